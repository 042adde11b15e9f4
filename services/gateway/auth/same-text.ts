import { hash, timingSafeEqual } from 'node:crypto'

/** Compares a secret with what a caller gave, in a time that tells nothing of either, not even their lengths. */
export const isSameText = (given: string, secret: string): boolean => sameTextAs(secret)(given)

/** The same for a secret that many are compared with. */
export const sameTextAs = (secret: string): ((given: string) => boolean) => {
  const digest = digestOf(secret)
  return (given) => timingSafeEqual(digestOf(given), digest)
}

// As text, which Node makes faster than bytes.
const digestOf = (text: string): Buffer => Buffer.from(hash('sha256', text))
