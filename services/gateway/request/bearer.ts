import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '#proto/errors.ts'
import type { RotatingKey } from '#shared/config/setting.ts'

/** What is said where there is no secret, and to who does not know it. */
interface Sentences {
  unset: string
  wrong: string
}

/** Lets through who knows a secret of the operator, or the one before it, and nobody while there is none. */
export const requireBearer = (
  headers: IncomingHttpHeaders,
  secret: RotatingKey | undefined,
  { unset, wrong }: Sentences,
): void => {
  if (secret === undefined) throw new ServiceError('unavailable', unset)
  const bearer = bearerOf(headers) ?? ''
  // Every secret is compared, so that the time does not tell which of them was nearly met.
  if (
    !comparisonsWith(secret)
      .map((isSame) => isSame(bearer))
      .includes(true)
  )
    throw new ServiceError('unauthenticated', wrong)
}

/** A setting that has not changed is read as the same object. */
const comparisons = new WeakMap<RotatingKey, readonly ((given: string) => boolean)[]>()

const comparisonsWith = (secret: RotatingKey) => {
  const known = comparisons.get(secret)
  if (known) return known
  const made = [secret.current, secret.previous].filter((text) => text !== undefined).map(sameTextAs)
  comparisons.set(secret, made)
  return made
}

/** What stands after `Bearer` in the Authorization header, whatever it is; undefined without one. */
export const bearerOf = ({ authorization }: IncomingHttpHeaders): string | undefined =>
  /^bearer +(?<bearer>\S.*)$/i.exec(authorization ?? '')?.groups?.bearer?.trimEnd()

/** Compares a secret with what a caller gave, in a time that tells nothing of either, not even their lengths. */
export const isSameText = (given: string, secret: string): boolean => sameTextAs(secret)(given)

/** The same for a secret that many are compared with. */
const sameTextAs = (secret: string): ((given: string) => boolean) => {
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
