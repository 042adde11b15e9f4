import { createHmac, hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { type RotatingKey, type Setting, signingKey } from '#shared/config/setting.ts'
import type { Store } from '#shared/store/store.ts'
import { isSameText } from '../request/compare-secret.ts'

/** How far the clock of a sender may be from ours, and how old what it signed; Slack and Svix say the same. */
const freshForMs = 5 * 60_000

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
const requireFresh = (header: string, given: string | undefined, nowMs: number): string => {
  const seconds = /^\d{1,12}$/.test(given ?? '') ? Number(given) : Number.NaN
  if (given !== undefined && Math.abs(nowMs - seconds * 1_000) <= freshForMs) return given
  const sentence = `${header} must be the time of the request in seconds since 1970, at most ${freshForMs / 60_000} minutes from now`
  throw new ServiceError('unauthenticated', sentence)
}

/** The value of a header that a sender gives once. */
export const single = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined

const shape = /^(whsec_)?[A-Za-z0-9+/]{32,128}={0,2}$/

/** A secret as Svix and standardwebhooks.com write it. */
export const svixSecret = (doc: string): Setting<RotatingKey | undefined> => {
  const setting = signingKey(doc)
  return {
    ...setting,
    allowed: `whsec_ and at least 24 bytes in base64; ${setting.allowed.replace('text; ', '')}`,
    parse: (current, previous) => {
      if ([current, previous].some((secret) => secret !== undefined && !shape.test(secret)))
        throw new Error('must be whsec_ and at least 24 bytes in base64, as the identity provider shows it')
      return setting.parse(current, previous)
    },
  }
}

/** A request that is signed, and when it came. */
interface SignedRequest {
  headers: IncomingHttpHeaders
  body: Buffer
  nowMs: number
}

/** Throws `unauthenticated` for what was not signed with the secret within the last minutes. */
export const requireSvixSignature = (
  { headers, body, nowMs }: SignedRequest,
  secret: RotatingKey,
  name: string,
): void => {
  const header = (part: string) => single(headers[`svix-${part}`]) ?? single(headers[`webhook-${part}`])
  const at = requireFresh('svix-timestamp', header('timestamp'), nowMs)
  const id = header('id') ?? ''
  const signatures = (header('signature') ?? '').split(' ').flatMap((each) => {
    const [version, signature] = each.split(',')
    return version === 'v1' && signature ? [signature] : []
  })
  const keys = keysOf(secret).map((text) => Buffer.from(text.replace(/^whsec_/, ''), 'base64'))
  const content = [`${id}.${at}.`, body]
  if (id !== '' && isSigned(signatures, { content, keys, encoding: 'base64' })) return
  throw new ServiceError(
    'unauthenticated',
    `svix-signature must sign svix-id, svix-timestamp and the body with ${name}`,
  )
}

/** Throws `unauthenticated` for what the chat service did not sign within the last minutes; gives the signature. */
export const requireChatSignature = ({ headers, body, nowMs }: SignedRequest, secret: RotatingKey): string => {
  const at = requireFresh('X-Slack-Request-Timestamp', single(headers['x-slack-request-timestamp']), nowMs)
  const [version, signature = ''] = (single(headers['x-slack-signature']) ?? '').split('=')
  const content = [`v0:${at}:`, body]
  if (version === 'v0' && isSigned([signature], { content, keys: keysOf(secret), encoding: 'hex' })) return signature
  throw new ServiceError('unauthenticated', 'X-Slack-Signature must sign the request with CHATAPP_SIGNING_SECRET')
}

/** Lets each signed request through once, over all gateways. */
export type RequireFirstTime = (sender: string, signature: string) => Promise<void>

/** Beyond twice the time that a signature may be off, the signature itself is too old. */
const rememberedMs = 2 * freshForMs

/** Throws `conflict` for what was let through before. */
export const openFirstTime =
  (store: Store): RequireFirstTime =>
  async (sender, signature) => {
    const name = hash('sha256', signature, 'base64url')
    let isFirst = true
    await store.update(`gateway:signed:${sender}:${name}`, z.boolean(), (before) => {
      isFirst = before === undefined
      return { value: true, expiresInMs: rememberedMs }
    })
    if (!isFirst) throw new ServiceError('conflict', 'this signed request has been taken already')
  }
