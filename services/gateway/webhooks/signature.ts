import { createHmac, hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { type RotatingKey, type Setting, signingKey } from '#shared/config/setting.ts'
import type { Store } from '#shared/store/store.ts'
import { isSameText } from '../request/bearer.ts'
import { chatApplicationSigning } from '#shared/config/shared-settings.ts'

/** How far the clock of a sender may be from ours, and how old what it signed; Slack and Svix say the same. */
const freshForMs = 5 * 60_000

interface Signed {
  /** What was signed, in its parts. */
  content: readonly (string | Buffer)[]
  keys: readonly string[]
}

/** Returns whether this is the HMAC-SHA-256 of the content under one of the keys, in hexadecimal digits. */
export const isSigned = (signature: string, { content, keys }: Signed): boolean => {
  const compared = keys.map((key) => {
    const hmac = createHmac('sha256', key)
    for (const part of content) hmac.update(part)
    return isSameText(signature, hmac.digest('hex'))
  })
  // All keys are tried, so that the time does not reveal which one matched.
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

const shape = /^(whsec_)?([A-Za-z0-9+/]{4}){8,32}([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

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
  // The library would refuse it too, in its own words and by a clock that is not the gateway's.
  const at = requireFresh('svix-timestamp', header('timestamp'), nowMs)
  const signed = {
    'webhook-id': header('id') ?? '',
    'webhook-timestamp': at,
    'webhook-signature': header('signature') ?? '',
  }
  if (keysOf(secret).some((key) => isVerified(key, body, signed))) return
  throw new ServiceError(
    'unauthenticated',
    `svix-signature must sign svix-id, svix-timestamp and the body with ${name}`,
  )
}

const isVerified = (key: string, body: Buffer, headers: Record<string, string>): boolean => {
  try {
    new Webhook(key).verify(body, headers, { jsonParse: false })
    return true
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false
    throw error
  }
}

/** Throws `unauthenticated` for what the chat service did not sign within the last minutes; gives the signature. */
export const requireChatSignature = ({ headers, body, nowMs }: SignedRequest, secret: RotatingKey): string => {
  const at = requireFresh('X-Slack-Request-Timestamp', single(headers['x-slack-request-timestamp']), nowMs)
  const [version, signature = ''] = (single(headers['x-slack-signature']) ?? '').split('=')
  const content = [`v0:${at}:`, body]
  if (version === 'v0' && isSigned(signature, { content, keys: keysOf(secret) })) return signature
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
    if (!isFirst) throw new ServiceError('conflict', 'this signed request was already processed')
  }

/** What lets those in who sign what they send. */
export const webhookSettings = {
  ...chatApplicationSigning,
  REPO_HOST_WEBHOOK_SECRET: signingKey(
    'Secret of the GitHub webhook. Signed deployments, releases and pushes to the default branch are received at /api/webhooks/repository and annotated on charts.',
  ),
  IDP_WEBHOOK_SECRET: svixSecret(
    'Secret of the Clerk webhook. Deleted users and ended sessions are received at /api/webhooks/identity-provider and lose access at once.',
  ),
} as const
