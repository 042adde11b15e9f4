import { createHmac, hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { type RotatingKey, type Setting, signingKeySetting } from '#shared/config/setting.ts'
import type { Store } from '#shared/store/store.ts'
import { isTimingSafeEqual } from '../request/bearer.ts'
import { slackSigningSettings } from '#shared/config/shared-settings.ts'

/** Maximum age of a signed request and maximum clock skew of its sender, as Slack and Svix recommend. */
const freshForMs = 5 * 60_000

interface SignedContent {
  /** The signed content, in parts that are concatenated. */
  content: readonly (string | Buffer)[]
  keys: readonly string[]
}

/** Returns whether the signature is the hexadecimal HMAC-SHA-256 of the content with one of the keys. */
export const isValidSignature = (signature: string, { content, keys }: SignedContent): boolean => {
  const compared = keys.map((key) => {
    const hmac = createHmac('sha256', key)
    for (const part of content) hmac.update(part)
    return isTimingSafeEqual(signature, hmac.digest('hex'))
  })
  // All keys are compared, so that the time does not reveal which one matched.
  return compared.includes(true)
}

/** Returns the current and, if any, the previous secret. */
export const listSecrets = ({ current, previous }: RotatingKey): string[] =>
  previous === undefined ? [current] : [current, previous]

/** Returns the timestamp of a header in epoch seconds; throws `unauthenticated` if it is invalid or not recent. */
const requireFreshTimestamp = (header: string, given: string | undefined, nowMs: number): string => {
  const seconds = /^\d{1,12}$/.test(given ?? '') ? Number(given) : Number.NaN
  if (given !== undefined && Math.abs(nowMs - seconds * 1_000) <= freshForMs) return given
  const sentence = `${header} must be a Unix timestamp, at most ${freshForMs / 60_000} minutes from the server time`
  throw new ServiceError('unauthenticated', sentence)
}

/** Returns the value of a header; undefined if it is absent or repeated. */
export const readSingleHeader = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined

const svixSecretShape = /^(whsec_)?([A-Za-z0-9+/]{4}){8,32}([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Returns a setting for a secret in the format of Svix and standardwebhooks.com: `whsec_` and base64. */
export const createSvixSecretSetting = (doc: string): Setting<RotatingKey | undefined> => {
  const setting = signingKeySetting(doc)
  return {
    ...setting,
    allowed: `whsec_ and at least 24 bytes in base64; ${setting.allowed.replace('text; ', '')}`,
    parse: (current, previous) => {
      if ([current, previous].some((secret) => secret !== undefined && !svixSecretShape.test(secret)))
        throw new Error('must be whsec_ and at least 24 bytes in base64, as the identity provider shows it')
      return setting.parse(current, previous)
    },
  }
}

/** A signed request and the current time. */
interface SignedRequest {
  headers: IncomingHttpHeaders
  body: Buffer
  nowMs: number
}

/** Throws `unauthenticated` unless Svix signed the request with the secret within the last five minutes. */
export const requireSvixSignature = (
  { headers, body, nowMs }: SignedRequest,
  secret: RotatingKey,
  name: string,
): void => {
  const header = (part: string) =>
    readSingleHeader(headers[`svix-${part}`]) ?? readSingleHeader(headers[`webhook-${part}`])
  // The library also checks the timestamp, but it throws another error and uses the system clock.
  const at = requireFreshTimestamp('svix-timestamp', header('timestamp'), nowMs)
  const signed = {
    'webhook-id': header('id') ?? '',
    'webhook-timestamp': at,
    'webhook-signature': header('signature') ?? '',
  }
  if (listSecrets(secret).some((key) => isVerified(key, body, signed))) return
  throw new ServiceError(
    'unauthenticated',
    `invalid svix-signature: does not match svix-id, svix-timestamp and the body; check ${name}`,
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

/** Returns the signature of a Slack request. Throws `unauthenticated` unless Slack signed it within five minutes. */
export const requireChatSignature = ({ headers, body, nowMs }: SignedRequest, secret: RotatingKey): string => {
  const at = requireFreshTimestamp(
    'X-Slack-Request-Timestamp',
    readSingleHeader(headers['x-slack-request-timestamp']),
    nowMs,
  )
  const [version, signature = ''] = (readSingleHeader(headers['x-slack-signature']) ?? '').split('=')
  const content = [`v0:${at}:`, body]
  if (version === 'v0' && isValidSignature(signature, { content, keys: listSecrets(secret) })) return signature
  throw new ServiceError(
    'unauthenticated',
    'invalid X-Slack-Signature: does not match the request; check CHATAPP_SIGNING_SECRET',
  )
}

/** Throws `conflict` for a signed request that any gateway has already processed. */
export type RejectReplay = (sender: string, signature: string) => Promise<void>

/** Retention of signatures. After twice the maximum clock skew, the timestamp of the request is rejected anyway. */
const signatureRetentionMs = 2 * freshForMs

/** Returns a function that rejects replays; it stores the hash of each signature. */
export const openReplayProtection =
  (store: Store): RejectReplay =>
  async (sender, signature) => {
    const name = hash('sha256', signature, 'base64url')
    let isFirst = true
    await store.update(`gateway:signed:${sender}:${name}`, z.boolean(), (before) => {
      isFirst = before === undefined
      return { value: true, expiresInMs: signatureRetentionMs }
    })
    if (!isFirst) throw new ServiceError('conflict', 'this signed request was already processed')
  }

/** Settings of signed webhooks. */
export const webhookSettings = {
  ...slackSigningSettings,
  REPO_HOST_WEBHOOK_SECRET: signingKeySetting(
    'Secret of the GitHub webhook. Signed deployments, releases and pushes to the default branch are received at /api/webhooks/repository and annotated on charts.',
  ),
  IDP_WEBHOOK_SECRET: createSvixSecretSetting(
    'Secret of the Clerk webhook. Deleted users and ended sessions are received at /api/webhooks/identity-provider and lose access at once.',
  ),
} as const
