import { flag, read, secret } from '#shared/config/setting.ts'
import { cut } from '../messages/text.ts'
import { type Message, plainText } from '../messages/message.ts'
import { severityFloor } from '../messages/message-settings.ts'
import type { Channel, SendResult } from './channel.ts'
import { type Answer, exchange } from './channel-request.ts'

export const settings = {
  HEALTH_ALERT_PAGING_A_ROUTING_KEY: secret(
    'Integration key of the PagerDuty service that gets alerts (Events API v2).',
  ),
  HEALTH_ALERT_PAGING_A_API_KEY: secret('PagerDuty token that only lists the services of the account, to choose from.'),
  HEALTH_ALERT_PAGING_A_ENABLED: flag(true, 'Whether PagerDuty gets alerts.'),
  HEALTH_ALERT_PAGING_A_MIN_SEVERITY: severityFloor('Least severity that PagerDuty gets.'),
} as const

/**
 * PagerDuty, told by its Events API v2.
 * A message that is sent twice opens one incident; a recovery resolves it.
 */
export const pagingA: Channel = {
  id: 'paging-a',
  words: { name: 'PagerDuty', doc: 'Opens and resolves an incident for each condition.' },
  settings,
  isPaging: true,
  opensIncidents: true,
  // It took 120 a minute of one key when it still said so.
  limits: { concurrency: 4, perSecond: 2, burst: 60 },
  targets(env) {
    const given = read(settings, env)
    const routingKey = given.HEALTH_ALERT_PAGING_A_ROUTING_KEY?.trim()
    if (!routingKey) return []
    return [
      {
        id: 'default',
        name: 'paging-a',
        isEnabled: given.HEALTH_ALERT_PAGING_A_ENABLED,
        minSeverity: given.HEALTH_ALERT_PAGING_A_MIN_SEVERITY ?? null,
        send: (message, way) => {
          const body = JSON.stringify(eventOf(message, routingKey))
          return exchange(way, { url: eventsUrl, headers: { 'content-type': 'application/json' }, body, judge })
        },
      },
    ]
  },
}

const eventsUrl = 'https://events.pagerduty.com/v2/enqueue'
const maxSummary = 1_024
const maxKey = 255
/** An event must stay below 512 kB; what people read of one is far less. */
const maxDetails = 16_384

/**
 * Everything about one episode has one key, so that what is sent again opens nothing new and its end resolves it. It begins with
 * our name: of all that we send PagerDuty tells in its own webhooks nothing else, by which we know an incident for our own.
 */
const eventOf = (message: Message, routingKey: string) => {
  const { notice, headline, host, isOver, url, origin } = message
  return {
    routing_key: routingKey,
    event_action: isOver ? 'resolve' : 'trigger',
    dedup_key: cut(`${origin}:${notice.episode}`, maxKey),
    client: 'Watchhouse',
    ...(url !== null && { client_url: url, links: [{ href: url, text: 'Open' }] }),
    payload: {
      summary: cut(headline, maxSummary),
      source: host?.name ?? notice.source ?? origin,
      severity: notice.kind === 'test' ? 'info' : message.severity,
      timestamp: new Date(notice.sinceMs).toISOString(),
      class: notice.ruleId,
      custom_details: { ...detailsOf(message), Installation: origin },
    },
  }
}

const detailsOf = (message: Message): Record<string, string> => ({
  ...Object.fromEntries(message.facts.map(({ label, value }) => [label, value])),
  Message: plainText(message, maxDetails),
})

/** A key that nobody knows is a wrong event there, and to us a wrong setting. */
const judge = ({ status, text }: Answer): SendResult | undefined =>
  status === 400 && /routing[ _]key/i.test(text)
    ? { kind: 'config', reason: 'its routing key is not known there' }
    : undefined
