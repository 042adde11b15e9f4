import { hash } from 'node:crypto'
import type { Environment } from '#shared/config/environment.ts'
import { flagSetting, parseSettings, type Setting } from '#shared/config/setting.ts'
import type { RequestSender } from '#shared/net/net.ts'
import type { Message } from '../messages/message.ts'
import { createMinSeveritySetting } from '../messages/message-settings.ts'
import { toShortId } from '../notification.ts'
import { makeLenient } from '../lenient-settings.ts'
import type { Policy, WebhookTarget } from '../policy.ts'
import type { Channel, SendResult } from './channel.ts'
import { sendChannelRequest } from './channel-request.ts'
import { selectFormat } from './formats/index.ts'
import { renderTemplates } from './formats/template.ts'
import { parseWebhookHeaders, parseTargetList } from './webhook-target-list.ts'

const targetListSetting: Setting<readonly WebhookTarget[]> = {
  doc: 'Up to 32 additional webhooks, each with name, urlEnv (the variable that holds its URL), and optionally headersEnv, enabled, format (auto, raw, slack, matrix, hookshot), minSeverity and templates (title, body).',
  audience: 'server',
  fallback: 'none',
  allowed: 'JSON array of objects',
  parse: (values) => {
    const { targets, problems } = parseTargetList(values)
    if (problems.length > 0) throw new Error(problems.join('; '))
    return targets
  },
}

const settings = {
  HEALTH_ALERT_WEBHOOK_TARGETS: targetListSetting,
  HEALTH_ALERT_WEBHOOK_TARGETS_ENABLED: flagSetting(true, 'Whether the additional webhooks receive alerts.'),
  HEALTH_ALERT_WEBHOOK_TARGETS_MIN_SEVERITY: createMinSeveritySetting(
    'Minimum severity for additional webhooks without their own.',
  ),
} as const

const lenientSettings = makeLenient(settings)

/**
 * Additional webhooks, each in the format of its service. A message sent twice is shown twice, except with Matrix;
 * `raw` contains an idempotency key. A recovery is a separate message.
 */
export const webhookTargetsChannel: Channel = {
  id: 'webhook-targets',
  settings,
  isPaging: false,
  announces: true,
  // Discord allows five messages in two seconds, Slack one a second.
  limits: { concurrency: 2, perSecond: 1, burst: 5, groupAfter: 3 },
  targets(env, policy) {
    const values = parseSettings(lenientSettings, env)
    return listWebhookTargets(env, policy).flatMap((target) => {
      const { name, urlEnv = '', headersEnv, enabled, minSeverity, saved } = target
      const address = saved?.url ?? env[urlEnv]
      const headers = saved?.headers ?? (headersEnv === undefined ? '{}' : env[headersEnv])
      if (!address || !headers) return []
      return [
        {
          id: toShortId(name),
          name,
          isEnabled: enabled && values.HEALTH_ALERT_WEBHOOK_TARGETS_ENABLED,
          minSeverity: minSeverity ?? values.HEALTH_ALERT_WEBHOOK_TARGETS_MIN_SEVERITY ?? null,
          isSaved: saved !== undefined,
          isLocal: saved?.isLocal,
          send: (message: Message, way: RequestSender) => sendTo(way, { target, address, headers, message }),
        },
      ]
    })
  },
}

/** Returns the configured targets, then valid targets of the variable that have other names. */
export const listWebhookTargets = (
  env: Environment,
  { webhookTargets: configured }: Pick<Policy, 'webhookTargets'>,
): WebhookTarget[] => {
  const names = new Set(configured.map(({ name }) => name))
  const { targets } = parseTargetList(env.HEALTH_ALERT_WEBHOOK_TARGETS)
  return [...configured, ...targets.filter(({ name }) => !names.has(name))]
}

interface SendOptions {
  target: WebhookTarget
  address: string
  headers: string
  message: Message
}

/**
 * Sends a message to one webhook. Returns `config` for an invalid URL or invalid headers, so that the target is shown
 * as misconfigured and other targets report it.
 */
const sendTo = async (
  way: RequestSender,
  { target, address: values, headers: secret, message }: SendOptions,
): Promise<SendResult> => {
  const address = URL.canParse(values) ? new URL(values) : undefined
  const headers = parseWebhookHeaders(secret)
  if (address?.protocol !== 'https:' && address?.protocol !== 'http:')
    return { kind: 'config', reason: 'its URL is not an http or https URL' }
  if (!headers) return { kind: 'config', reason: 'its headers are not a JSON object of Authorization and X- headers' }
  const { compose, classify } = selectFormat(target.format, address)
  const composed = compose({
    message,
    address,
    write: renderTemplates(target, message),
    key: computeIdempotencyKey(message),
  })
  return sendChannelRequest(way, {
    url: composed.url ?? address.href,
    method: composed.method ?? 'POST',
    headers: { ...headers, ...composed.headers, 'content-type': 'application/json' },
    body: JSON.stringify(composed.body),
    ...(classify && { classify }),
  })
}

const computeIdempotencyKey = ({ origin, notification: { id } }: Message): string =>
  hash('sha256', `${origin} ${id}`).slice(0, 32)
