import { flagSetting, parseSettings, secretSetting } from '#shared/config/setting.ts'
import { truncateText } from '../messages/text.ts'
import { type Message, toPlainText } from '../messages/message.ts'
import { createMinSeveritySetting } from '../messages/message-settings.ts'
import type { Channel, SendResult } from './channel.ts'
import { type ChannelResponse, sendChannelRequest } from './channel-request.ts'

export const pagerDutySettings = {
  HEALTH_ALERT_PAGING_A_ROUTING_KEY: secretSetting(
    'Integration key of the PagerDuty service that receives alerts (Events API v2).',
  ),
  HEALTH_ALERT_PAGING_A_API_KEY: secretSetting(
    'PagerDuty REST API token, used only to list the services of the account.',
  ),
  HEALTH_ALERT_PAGING_A_ENABLED: flagSetting(true, 'Whether PagerDuty receives alerts.'),
  HEALTH_ALERT_PAGING_A_MIN_SEVERITY: createMinSeveritySetting('Minimum severity for PagerDuty.'),
} as const

/** PagerDuty through its Events API v2. A message sent twice opens one incident; a recovery resolves it. */
export const pagerDutyChannel: Channel = {
  id: 'paging-a',
  words: { name: 'PagerDuty', doc: 'Opens and resolves an incident for each condition.' },
  settings: pagerDutySettings,
  isPaging: true,
  opensIncidents: true,
  // The documented limit used to be 120 events a minute per key.
  limits: { concurrency: 4, perSecond: 2, burst: 60 },
  targets(env) {
    const values = parseSettings(pagerDutySettings, env)
    const routingKey = values.HEALTH_ALERT_PAGING_A_ROUTING_KEY?.trim()
    if (!routingKey) return []
    return [
      {
        id: 'default',
        name: 'paging-a',
        isEnabled: values.HEALTH_ALERT_PAGING_A_ENABLED,
        minSeverity: values.HEALTH_ALERT_PAGING_A_MIN_SEVERITY ?? null,
        send: (message, way) => {
          const body = JSON.stringify(buildEvent(message, routingKey))
          return sendChannelRequest(way, {
            url: eventsUrl,
            headers: { 'content-type': 'application/json' },
            body,
            classify,
          })
        },
      },
    ]
  },
}

const eventsUrl = 'https://events.pagerduty.com/v2/enqueue'
const maxSummary = 1_024
const maxKey = 255
/** Maximum length of the details, in characters. PagerDuty limits the whole event to 512 kB. */
const maxDetails = 16_384

/**
 * All events of an episode share a deduplication key, so that a repeated alert opens no second incident and a recovery
 * resolves it. The key starts with the origin, because nothing else in PagerDuty webhooks identifies our incidents.
 */
const buildEvent = (message: Message, routingKey: string) => {
  const { notification, headline, host, isOver, url, origin } = message
  return {
    routing_key: routingKey,
    event_action: isOver ? 'resolve' : 'trigger',
    dedup_key: truncateText(`${origin}:${notification.episode}`, maxKey),
    client: 'Watchhouse',
    ...(url !== null && { client_url: url, links: [{ href: url, text: 'Open' }] }),
    payload: {
      summary: truncateText(headline, maxSummary),
      source: host?.name ?? notification.source ?? origin,
      severity: notification.kind === 'test' ? 'info' : message.severity,
      timestamp: new Date(notification.sinceMs).toISOString(),
      class: notification.ruleId,
      custom_details: { ...buildDetails(message), Installation: origin },
    },
  }
}

const buildDetails = (message: Message): Record<string, string> => ({
  ...Object.fromEntries(message.facts.map(({ label, value }) => [label, value])),
  Message: toPlainText(message, maxDetails),
})

/** Classifies an unknown key as an invalid setting, because PagerDuty reports it like an invalid event. */
const classify = ({ status, text }: ChannelResponse): SendResult | undefined =>
  status === 400 && /routing[ _]key/i.test(text)
    ? { kind: 'config', reason: 'PagerDuty rejected its integration key' }
    : undefined
