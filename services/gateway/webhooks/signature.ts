import { createHmac } from 'node:crypto'
import { ServiceError } from '#proto/errors.ts'
import type { RotatingKey } from '#shared/config/setting.ts'
import { isSameText } from '../auth/same-text.ts'

/** How far the clock of a sender may be from ours, and how old what it signed; Slack and Svix say the same. */
export const freshForMs = 5 * 60_000

interface Signed {
  /** What was signed, in its parts. */
  content: readonly (string | Buffer)[]
  keys: readonly (string | Buffer)[]
  encoding: 'hex' | 'base64'
}

/** More than a sender that changes its secret has. */
const mostSignatures = 8

/** Whether one of these is the HMAC-SHA-256 of the content under one of the keys. */
export const isSigned = (signatures: readonly string[], { content, keys, encoding }: Signed): boolean => {
  const expected = keys.map((key) => {
    const hmac = createHmac('sha256', key)
    for (const part of content) hmac.update(part)
    return hmac.digest(encoding)
  })
  // Every pair is compared, so that the time does not tell which was nearly met.
  const compared = signatures
    .slice(0, mostSignatures)
    .flatMap((given) => expected.map((text) => isSameText(given, text)))
  return compared.includes(true)
}

/** The present secret and the one before it. */
export const keysOf = ({ current, previous }: RotatingKey): string[] =>
  previous === undefined ? [current] : [current, previous]

/** The time of a header in seconds since 1970; throws `unauthenticated` for one that is missing, none, or too far from now. */
export const requireFresh = (header: string, given: string | undefined, nowMs: number): string => {
  const seconds = /^\d{1,12}$/.test(given ?? '') ? Number(given) : Number.NaN
  if (given !== undefined && Math.abs(nowMs - seconds * 1_000) <= freshForMs) return given
  const sentence = `${header} must be the time of the request in seconds since 1970, at most ${freshForMs / 60_000} minutes from now`
  throw new ServiceError('unauthenticated', sentence)
}

/** The value of a header that a sender gives once. */
export const single = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined
