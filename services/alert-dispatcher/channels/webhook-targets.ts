import { hash } from 'node:crypto'
import type { Environment } from '#shared/config/environment.ts'
import { flag, read, type Setting } from '#shared/config/setting.ts'
import type { Send } from '#shared/net/net.ts'
import type { Message } from '../messages/message.ts'
import { severityFloor } from '../messages/message-settings.ts'
import { tokenOf } from '../notice.ts'
import { forgiving } from '../forgiving-settings.ts'
import type { Policy, WebhookTarget } from '../policy.ts'
import type { Channel, SendResult } from './channel.ts'
import { exchange } from './channel-request.ts'
import { formatOf } from './formats/index.ts'
import { writeTemplates } from './formats/template.ts'
import { readHeaders, readTargetList } from './webhook-target-list.ts'

const list: Setting<readonly WebhookTarget[]> = {
  doc: 'Up to 32 further webhooks, each with name, urlEnv (the variable that holds its address), and where wanted headersEnv, enabled, format (auto, raw, slack, matrix, hookshot), minSeverity and templates (title, body).',
  audience: 'server',
  fallback: 'none',
  allowed: 'JSON array of objects',
  parse: (given) => {
    const { targets, problems } = readTargetList(given)
    if (problems.length > 0) throw new Error(problems.join('; '))
    return targets
  },
}

const settings = {
  HEALTH_ALERT_WEBHOOK_TARGETS: list,
  HEALTH_ALERT_WEBHOOK_TARGETS_ENABLED: flag(true, 'Whether the further webhooks get alerts.'),
  HEALTH_ALERT_WEBHOOK_TARGETS_MIN_SEVERITY: severityFloor(
    'Least severity that further webhooks without one of their own get.',
  ),
} as const

const forgivingSettings = forgiving(settings)

/**
 * Further webhooks, each in the shape of the service behind it.
 * A message that is sent twice is shown twice, but for Matrix; `raw` carries a key to tell; a recovery is a message.
 */
export const webhookTargets: Channel = {
  id: 'webhook-targets',
  settings,
  isPaging: false,
  announces: true,
  // Discord takes five in two seconds, Slack one a second.
  limits: { concurrency: 2, perSecond: 1, burst: 5, groupAfter: 3 },
  targets(env, policy) {
    const given = read(forgivingSettings, env)
    return listedTargets(env, policy).flatMap((target) => {
      const { name, urlEnv = '', headersEnv, enabled, minSeverity, saved } = target
      const address = saved?.url ?? env[urlEnv]
      const headers = saved?.headers ?? (headersEnv === undefined ? '{}' : env[headersEnv])
      if (!address || !headers) return []
      return [
        {
          id: tokenOf(name),
          name,
          isEnabled: enabled && given.HEALTH_ALERT_WEBHOOK_TARGETS_ENABLED,
          minSeverity: minSeverity ?? given.HEALTH_ALERT_WEBHOOK_TARGETS_MIN_SEVERITY ?? null,
          isSaved: saved !== undefined,
          send: (message: Message, way: Send) => sendTo(way, { target, address, headers, message }),
        },
      ]
    })
  },
}

/** Those that operators have settled, and those of the variable whose names they leave free; a bad entry keeps no other away. */
export const listedTargets = (
  env: Environment,
  { webhookTargets: settled }: Pick<Policy, 'webhookTargets'>,
): WebhookTarget[] => {
  const names = new Set(settled.map(({ name }) => name))
  const { targets } = readTargetList(env.HEALTH_ALERT_WEBHOOK_TARGETS)
  return [...settled, ...targets.filter(({ name }) => !names.has(name))]
}

interface Sending {
  target: WebhookTarget
  address: string
  headers: string
  message: Message
}

/** What cannot be meant is told when it is needed, so that the target shows as broken and the others tell of it. */
const sendTo = async (
  way: Send,
  { target, address: given, headers: secret, message }: Sending,
): Promise<SendResult> => {
  const address = URL.canParse(given) ? new URL(given) : undefined
  const headers = readHeaders(secret)
  if (address?.protocol !== 'https:' && address?.protocol !== 'http:')
    return { kind: 'config', reason: 'its address is no URL with http or https' }
  if (!headers) return { kind: 'config', reason: 'its headers are no JSON object of Authorization and X- headers' }
  const { compose, judge } = formatOf(target.format, address)
  const composed = compose({ message, address, write: writeTemplates(target, message), key: keyOf(message) })
  return exchange(way, {
    url: composed.url ?? address.href,
    method: composed.method ?? 'POST',
    headers: { ...headers, ...composed.headers, 'content-type': 'application/json' },
    body: JSON.stringify(composed.body),
    ...(judge && { judge }),
  })
}

const keyOf = ({ origin, notice: { id } }: Message): string => hash('sha256', `${origin} ${id}`).slice(0, 32)
