import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '#proto/errors.ts'
import type { RotatingKey } from '#shared/config/setting.ts'

/** Error messages for a secret that is not set and for a bearer token that does not match. */
interface BearerMessages {
  unset: string
  wrong: string
}

/** Throws `unauthenticated` unless the bearer token is the current or previous secret; `unavailable` if none is set. */
export const requireBearer = (
  headers: IncomingHttpHeaders,
  secret: RotatingKey | undefined,
  { unset, wrong }: BearerMessages,
): void => {
  if (secret === undefined) throw new ServiceError('unavailable', unset)
  const bearer = readBearerToken(headers) ?? ''
  // All secrets are compared, so that the response time does not reveal which one matched.
  if (
    !comparisonsWith(secret)
      .map((isSame) => isSame(bearer))
      .includes(true)
  )
    throw new ServiceError('unauthenticated', wrong)
}

/** Cached comparisons by secret object; reading an unchanged setting returns the same object. */
const comparisons = new WeakMap<RotatingKey, readonly ((candidate: string) => boolean)[]>()

const comparisonsWith = (secret: RotatingKey) => {
  const known = comparisons.get(secret)
  if (known) return known
  const created = [secret.current, secret.previous].filter((text) => text !== undefined).map(createTextComparison)
  comparisons.set(secret, created)
  return created
}

/** Returns the text after `Bearer` in the Authorization header, unchecked; undefined without one. */
export const readBearerToken = ({ authorization }: IncomingHttpHeaders): string | undefined =>
  /^bearer +(?<bearer>\S.*)$/i.exec(authorization ?? '')?.groups?.bearer?.trimEnd()

/**
 * Returns whether two texts are equal. The comparison takes constant time, so that it reveals neither their content nor
 * their lengths.
 */
export const isTimingSafeEqual = (candidate: string, secret: string): boolean => createTextComparison(secret)(candidate)

/** Returns `isTimingSafeEqual` for one secret, whose digest is computed once. */
const createTextComparison = (secret: string): ((candidate: string) => boolean) => {
  const digest = digestOf(secret)
  return (candidate) => timingSafeEqual(digestOf(candidate), digest)
}

// Hashing to text is faster in Node than hashing to bytes.
const digestOf = (text: string): Buffer => Buffer.from(hash('sha256', text))

/** Returns whether a text is the current or the previous secret; false if the text is undefined. */
export const isSharedSecret = (candidate: string | undefined, { current, previous }: RotatingKey): boolean => {
  if (candidate === undefined) return false
  // Both are always compared, so that the response time does not reveal which one matched.
  const matches = [current, previous].map((secret) => secret !== undefined && isTimingSafeEqual(candidate, secret))
  return matches.includes(true)
}
