import type { RotatingKey } from '#shared/config/setting.ts'
import { isSameText } from './same-text.ts'

/** Whether a proxy gave the secret it shares with us, or the one before it. */
export const isSharedSecret = (given: string | undefined, { current, previous }: RotatingKey): boolean => {
  if (given === undefined) return false
  // Both are always compared: which of them is in use shall not be measurable.
  const matches = [current, previous].map((secret) => secret !== undefined && isSameText(given, secret))
  return matches.includes(true)
}
