import { flagSetting, choiceSetting, parseSettings, secretSetting } from '#shared/config/setting.ts'
import type { RequestSender } from '#shared/net/net.ts'
import { truncateText } from '../messages/text.ts'
import { type Message, toPlainText } from '../messages/message.ts'
import { createMinSeveritySetting } from '../messages/message-settings.ts'
import { makeLenient } from '../lenient-settings.ts'
import { type Channel, type SendResult, maxSendMs } from './channel.ts'
import { type ChannelResponse, sendChannelRequest } from './channel-request.ts'

const settings = {
  HEALTH_ALERT_PAGING_B_API_KEY: secretSetting('API key of the Opsgenie integration that receives alerts.'),
  HEALTH_ALERT_PAGING_B_REGION: choiceSetting(['us', 'eu'], 'us', 'Region of the Opsgenie account.'),
  HEALTH_ALERT_PAGING_B_ENABLED: flagSetting(true, 'Whether Opsgenie receives alerts.'),
  HEALTH_ALERT_PAGING_B_MIN_SEVERITY: createMinSeveritySetting('Minimum severity for Opsgenie.'),
} as const

const lenientSettings = makeLenient(settings)

/** Opsgenie through its Alert API. A message sent twice opens one alert; a recovery closes it. */
export const opsgenieChannel: Channel = {
  id: 'paging-b',
  words: { name: 'Opsgenie', doc: 'Opens and closes an alert for each condition.' },
  settings,
  isPaging: true,
  opensIncidents: true,
  // The smallest plans allow about two requests a second.
  limits: { concurrency: 4, perSecond: 2, burst: 30 },
  targets(env) {
    const values = parseSettings(lenientSettings, env)
    const key = values.HEALTH_ALERT_PAGING_B_API_KEY?.trim()
    if (!key) return []
    const account = { api: apis[values.HEALTH_ALERT_PAGING_B_REGION], key }
    return [
      {
        id: 'default',
        name: 'paging-b',
        isEnabled: values.HEALTH_ALERT_PAGING_B_ENABLED,
        minSeverity: values.HEALTH_ALERT_PAGING_B_MIN_SEVERITY ?? null,
        send: (message, way) => sendAlert(way, account, message),
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
  classify?: (response: ChannelResponse) => SendResult | undefined
}

/** Sends the steps in order until one fails; all of them can safely be repeated. */
const sendAlert = async (way: RequestSender, { api, key }: Account, message: Message): Promise<SendResult> => {
  const steps = buildSteps(message)
  let result: SendResult = { kind: 'ok' }
  for (const { path, body, ...step } of steps) {
    result = await sendChannelRequest(way, {
      ...step,
      url: api + path,
      headers: { authorization: `GenieKey ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      // The requests of one send share its maximum duration.
      timeoutMs: maxSendMs / steps.length,
    })
    if (result.kind !== 'ok') return result
  }
  return result
}

/**
 * Returns the requests for a message. If the alert is already open, Opsgenie only increases its count. An escalation
 * therefore also updates the priority and the message of the open alert.
 */
const buildSteps = (message: Message): Step[] => {
  const alert = buildAlert(message)
  const path = `/v2/alerts/${encodeURIComponent(alert.alias)}`
  const change = (method: Step['method'], what: string, body: object, classify?: Step['classify']): Step => ({
    method,
    path: `${path}/${what}?identifierType=alias`,
    body,
    ...(classify && { classify }),
  })
  const { source, user, priority, message: text } = alert
  if (message.isOver) return [change('POST', 'close', { source, user, note: buildNote(message) }, classifyClosed)]
  const create: Step = { method: 'POST', path: '/v2/alerts', body: alert }
  if (message.notification.kind !== 'escalate') return [create]
  return [create, change('PUT', 'priority', { priority }), change('PUT', 'message', { message: text })]
}

const maxMessage = 130
const maxAlias = 512
const maxDescription = 15_000
const maxEntity = 512
const maxNote = 25_000
const maxTag = 50
const user = 'Watchhouse'

const buildAlert = (message: Message) => {
  const { notification, headline, host, origin, metadata, url } = message
  const { ruleId, severity, episode } = notification
  return {
    message: truncateText(headline, maxMessage),
    alias: truncateText(episode, maxAlias),
    description: truncateText(toPlainText(message, maxDescription), maxDescription),
    priority: notification.kind === 'test' ? 'P5' : severity === 'critical' ? 'P1' : 'P3',
    entity: truncateText(host?.name ?? notification.source ?? '', maxEntity),
    source: origin,
    user,
    tags: [severity, ruleId].map((tag) => truncateText(tag, maxTag)),
    details: { ...metadata, installation: origin, ...(url !== null && { url }) },
  }
}

const buildNote = (message: Message): string => `${toPlainText(message, maxNote / 2)}\n\n${message.origin}`

/** Classifies status 404 as success, because an alert that does not exist is already closed. */
const classifyClosed = ({ status }: ChannelResponse): SendResult | undefined =>
  status === 404 ? { kind: 'ok' } : undefined
