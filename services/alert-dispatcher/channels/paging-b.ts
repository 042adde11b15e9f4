import { flag, oneOf, read, secret } from '#shared/config/setting.ts'
import type { Send } from '#shared/net/net.ts'
import { cut } from '../messages/text.ts'
import { type Message, plainText } from '../messages/message.ts'
import { severityFloor } from '../messages/message-settings.ts'
import { forgiving } from '../forgiving-settings.ts'
import { type Channel, type SendResult, sendWithinMs } from './channel.ts'
import { type Answer, exchange } from './channel-request.ts'

const settings = {
  HEALTH_ALERT_PAGING_B_API_KEY: secret('Key of the Opsgenie API integration that gets alerts.'),
  HEALTH_ALERT_PAGING_B_REGION: oneOf(['us', 'eu'], 'us', 'Where the Opsgenie account is kept.'),
  HEALTH_ALERT_PAGING_B_ENABLED: flag(true, 'Whether Opsgenie gets alerts.'),
  HEALTH_ALERT_PAGING_B_MIN_SEVERITY: severityFloor('Least severity that Opsgenie gets.'),
} as const

const forgivingSettings = forgiving(settings)

/**
 * Opsgenie, told by its Alert API.
 * A message that is sent twice opens one alert; a recovery closes it.
 */
export const pagingB: Channel = {
  id: 'paging-b',
  words: { name: 'Opsgenie', doc: 'Opens and closes an alert for each condition.' },
  settings,
  isPaging: true,
  opensIncidents: true,
  // The smallest plans allow about two a second.
  limits: { concurrency: 4, perSecond: 2, burst: 30 },
  targets(env) {
    const given = read(forgivingSettings, env)
    const key = given.HEALTH_ALERT_PAGING_B_API_KEY?.trim()
    if (!key) return []
    const account = { api: apis[given.HEALTH_ALERT_PAGING_B_REGION], key }
    return [
      {
        id: 'default',
        name: 'paging-b',
        isEnabled: given.HEALTH_ALERT_PAGING_B_ENABLED,
        minSeverity: given.HEALTH_ALERT_PAGING_B_MIN_SEVERITY ?? null,
        send: (message, way) => tell(way, account, message),
      },
    ]
  },
}

const apis = { us: 'https://api.opsgenie.com', eu: 'https://api.eu.opsgenie.com' } as const

interface Account {
  api: string
  key: string
}

interface Step {
  method: 'POST' | 'PUT'
  path: string
  body: object
  judge?: (answer: Answer) => SendResult | undefined
}

/** One after the other, until one is not taken: all of them may be sent again without harm. */
const tell = async (way: Send, { api, key }: Account, message: Message): Promise<SendResult> => {
  const steps = stepsOf(message)
  let result: SendResult = { kind: 'ok' }
  for (const { path, body, ...step } of steps) {
    result = await exchange(way, {
      ...step,
      url: api + path,
      headers: { authorization: `GenieKey ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      // All of them must not take longer than one send may.
      timeoutMs: sendWithinMs / steps.length,
    })
    if (result.kind !== 'ok') return result
  }
  return result
}

/** An alert that is open takes no more than a count from another of its alias; that it has become worse is told apart. */
const stepsOf = (message: Message): Step[] => {
  const alert = alertOf(message)
  const path = `/v2/alerts/${encodeURIComponent(alert.alias)}`
  const change = (method: Step['method'], what: string, body: object, judge?: Step['judge']): Step => ({
    method,
    path: `${path}/${what}?identifierType=alias`,
    body,
    ...(judge && { judge }),
  })
  const { source, user, priority, message: text } = alert
  if (message.isOver) return [change('POST', 'close', { source, user, note: noteOf(message) }, asClosed)]
  const create: Step = { method: 'POST', path: '/v2/alerts', body: alert }
  if (message.notice.kind !== 'escalate') return [create]
  return [create, change('PUT', 'priority', { priority }), change('PUT', 'message', { message: text })]
}

const maxMessage = 130
const maxAlias = 512
const maxDescription = 15_000
const maxEntity = 512
const maxNote = 25_000
const maxTag = 50
const user = 'Watchhouse'

const alertOf = (message: Message) => {
  const { notice, headline, host, origin, metadata, url } = message
  const { ruleId, severity, episode } = notice
  return {
    message: cut(headline, maxMessage),
    alias: cut(episode, maxAlias),
    description: cut(plainText(message, maxDescription), maxDescription),
    priority: notice.kind === 'test' ? 'P5' : severity === 'critical' ? 'P1' : 'P3',
    entity: cut(host?.name ?? notice.source ?? '', maxEntity),
    source: origin,
    user,
    tags: [severity, ruleId].map((tag) => cut(tag, maxTag)),
    details: { ...metadata, installation: origin, ...(url !== null && { url }) },
  }
}

const noteOf = (message: Message): string => `${plainText(message, maxNote / 2)}\n\n${message.origin}`

/** What is not there any more need not be closed. */
const asClosed = ({ status }: Answer): SendResult | undefined => (status === 404 ? { kind: 'ok' } : undefined)
