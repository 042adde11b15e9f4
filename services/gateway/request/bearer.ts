import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '#proto/errors.ts'
import type { RotatingKey } from '#shared/config/setting.ts'
import { sameTextAs } from './compare-secret.ts'

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
