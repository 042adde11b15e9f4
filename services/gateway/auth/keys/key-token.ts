import { createHmac } from 'node:crypto'
import { z } from 'zod'
import type { RotatingKey } from '#shared/config/setting.ts'
import { parseJson } from '#shared/text/strings.ts'
import { isTimingSafeEqual } from '../../request/bearer.ts'

/** Id of an API key. */
export const ApiKeyId = z.string().regex(/^[\w-]{16}$/, 'must be the id of a key')

/** Claims of a key. Names registered by JWT have their standard meaning; times are epoch seconds. */
export const ApiKeyClaims = z.object({
  jti: ApiKeyId,
  sub: z.string().min(1).max(256),
  label: z.string().max(64),
  /** Scope names, including those that only newer releases know. */
  scopes: z.array(z.string().max(32)).min(1).max(16),
  iat: z.number().int(),
  exp: z.number().int(),
})
export type ApiKeyClaims = z.infer<typeof ApiKeyClaims>

/** Maximum length of a key in characters. Even a key with the longest possible claims is shorter. */
const maxTokenLength = 4_096
const tokenShape = /^svc_(?<payload>[\w-]+)\.(?<signature>[\w-]{43})$/

/** Returns whether a bearer token has the prefix of API keys; it may still be invalid. */
export const hasKeyPrefix = (bearer: string): boolean => bearer.startsWith('svc_')

/** Returns the key: `svc_`, the claims in base64url, a dot and their HMAC-SHA-256. */
export const signApiKey = (claims: ApiKeyClaims, secret: string): string => {
  const payload = Buffer.from(JSON.stringify(claims)).toString('base64url')
  return `svc_${payload}.${signatureOf(payload, secret)}`
}

/** Returns the claims of a key that one of the secrets signed; the caller checks its expiry. */
export const verifyKeySignature = (token: string, { current, previous }: RotatingKey): ApiKeyClaims | undefined => {
  if (token.length > maxTokenLength) return undefined
  const { payload, signature } = tokenShape.exec(token)?.groups ?? {}
  if (payload === undefined || signature === undefined) return undefined
  const secrets = previous === undefined ? [current] : [current, previous]
  // The signature is compared as text, because several texts decode to the same bytes but only one was issued.
  if (!secrets.some((secret) => isTimingSafeEqual(signature, signatureOf(payload, secret)))) return undefined
  return ApiKeyClaims.safeParse(parseJson(Buffer.from(payload, 'base64url').toString())).data
}

const signatureOf = (payload: string, secret: string): string =>
  createHmac('sha256', secret).update(payload).digest('base64url')
