import { subscriptionChannel } from '#proto/delivery.ts'
import { systemClock } from '#shared/time/clock.ts'
import { createHmac, hash } from 'node:crypto'
import { sendWithinMs, type Channel, type SendResult } from './channel.ts'
import type { Send } from '#shared/net/net.ts'
import type { Message } from '../messages/message.ts'
import type { OpenSubscription } from '../subscriptions/subscription.ts'
import { exchange } from './channel-request.ts'
import { raw } from './formats/raw.ts'

/** Webhooks that people brought themselves, each with what its owner wants to hear of. Operators settle nothing of it. */
export const subscriptions: Channel = {
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
        // Nobody who brings an address may reach inside by it.
        isSaved: true,
        own: { matchRule, matchHost },
        send: (message: Message, way: Send) => sendSigned(subscription, message, way),
      }
    }),
}

/**
 * The `raw` form, signed as standardwebhooks.com has it, so that receivers find libraries: HMAC-SHA-256 over id, time of this try
 * and body, joined by dots.
 */
const sendSigned = ({ url, ...signing }: OpenSubscription, message: Message, way: Send): Promise<SendResult> => {
  const { origin, notice } = message
  const id = hash('sha256', `${origin} ${notice.id}`).slice(0, 32)
  const body = JSON.stringify(raw.compose({ message, address: new URL(url), write: () => ({}), key: id }).body)
  const nowMs = systemClock.now()
  return exchange(way, {
    url,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(nowMs / 1_000)),
      'webhook-signature': signaturesOf(signing, { id, body, nowMs }),
    },
    body,
    timeoutMs: sendWithinMs,
  })
}

interface Signed {
  id: string
  body: string
  nowMs: number
}

/** One signature for each secret that counts now. */
const signaturesOf = (
  { signingSecret, replaced }: Pick<OpenSubscription, 'signingSecret' | 'replaced'>,
  { id, body, nowMs }: Signed,
): string => {
  const secrets = replaced && replaced.untilMs > nowMs ? [signingSecret, replaced.signingSecret] : [signingSecret]
  const content = `${id}.${Math.floor(nowMs / 1_000)}.${body}`
  return secrets
    .map((secret) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
    .map((key) => `v1,${createHmac('sha256', key).update(content).digest('base64')}`)
    .join(' ')
}
