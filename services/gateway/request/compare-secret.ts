import { hash, timingSafeEqual } from 'node:crypto'
import type { RotatingKey } from '#shared/config/setting.ts'

/** Compares a secret with what a caller gave, in a time that tells nothing of either, not even their lengths. */
export const isSameText = (given: string, secret: string): boolean => sameTextAs(secret)(given)

/** The same for a secret that many are compared with. */
export const sameTextAs = (secret: string): ((given: string) => boolean) => {
  const digest = digestOf(secret)
  return (given) => timingSafeEqual(digestOf(given), digest)
}

// As text, which Node makes faster than bytes.
const digestOf = (text: string): Buffer => Buffer.from(hash('sha256', text))

/** Whether a proxy gave the secret it shares with us, or the one before it. */
export const isSharedSecret = (given: string | undefined, { current, previous }: RotatingKey): boolean => {
  if (given === undefined) return false
  // Both are always compared: which of them is in use shall not be measurable.
  const matches = [current, previous].map((secret) => secret !== undefined && isSameText(given, secret))
  return matches.includes(true)
}
