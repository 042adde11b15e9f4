import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '#proto/errors.ts'
import type { RotatingKey } from '#shared/config/setting.ts'
import { isSameText } from './auth/same-text.ts'
import { bearerOf } from './bearer.ts'

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
  const known = [secret.current, secret.previous].filter((text) => text !== undefined)
  // Every secret is compared, so that the time does not tell which of them was nearly met.
  if (!known.map((text) => isSameText(bearer, text)).includes(true)) throw new ServiceError('unauthenticated', wrong)
}
