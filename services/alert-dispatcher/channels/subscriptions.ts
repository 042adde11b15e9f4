import { subscriptionChannel } from '#proto/delivery.ts'
import { systemClock } from '#shared/time/clock.ts'
import { createHmac, hash } from 'node:crypto'
import { maxSendMs, type Channel, type SendResult } from './channel.ts'
import type { RequestSender } from '#shared/net/net.ts'
import type { Message } from '../messages/message.ts'
import type { DecryptedSubscription } from '../subscriptions/subscription.ts'
import { sendChannelRequest } from './channel-request.ts'
import { rawFormat } from './formats/raw.ts'

/** Webhook subscriptions of users, each with its own matchers. Operators do not configure them. */
export const subscriptionsChannel: Channel = {
  id: subscriptionChannel,
  settings: {},
  isPaging: false,
  limits: { concurrency: 2, perSecond: 5, burst: 20, groupAfter: 3 },
  targets: (_env, policy) =>
    policy.subscriptions.map((subscription) => {
      const { id, name, enabled, minSeverity, matchRule, matchHost } = subscription
      return {
        id,
        name,
        isEnabled: enabled,
        minSeverity,
        // Like saved addresses, the URLs of users must not reach internal networks.
        isSaved: true,
        own: { matchRule, matchHost },
        send: (message: Message, way: RequestSender) => sendSigned(subscription, message, way),
      }
    }),
}

/**
 * Sends the `raw` format, signed as Standard Webhooks specifies: HMAC-SHA-256 over id, timestamp and body, joined by
 * dots.
 */
const sendSigned = (
  { url, ...signing }: DecryptedSubscription,
  message: Message,
  way: RequestSender,
): Promise<SendResult> => {
  const { origin, notification } = message
  const id = hash('sha256', `${origin} ${notification.id}`).slice(0, 32)
  const body = JSON.stringify(rawFormat.compose({ message, address: new URL(url), write: () => ({}), key: id }).body)
  const nowMs = systemClock.now()
  return sendChannelRequest(way, {
    url,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(nowMs / 1_000)),
      'webhook-signature': computeSignatures(signing, { id, body, nowMs }),
    },
    body,
    timeoutMs: maxSendMs,
  })
}

interface SignedContent {
  id: string
  body: string
  nowMs: number
}

/** Returns one signature per valid secret, separated by spaces. */
const computeSignatures = (
  { signingSecret, replaced }: Pick<DecryptedSubscription, 'signingSecret' | 'replaced'>,
  { id, body, nowMs }: SignedContent,
): string => {
  const secrets = replaced && replaced.untilMs > nowMs ? [signingSecret, replaced.signingSecret] : [signingSecret]
  const content = `${id}.${Math.floor(nowMs / 1_000)}.${body}`
  return secrets
    .map((secret) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
    .map((key) => `v1,${createHmac('sha256', key).update(content).digest('base64')}`)
    .join(' ')
}
