import type { Severity } from '#proto/rules.ts'
import { canVerifySlackActions, readDisplayZone } from '#shared/config/shared-settings.ts'
import type { Environment } from '#shared/config/environment.ts'
import {
  type Setting,
  optionalTextSetting,
  parseSettings,
  urlSetting,
  wholeNumberSetting,
} from '#shared/config/setting.ts'
import { parseJson } from '#shared/text/strings.ts'
import { makeLenient } from '../lenient-settings.ts'

const maxNameLength = 64
const maxPairs = 10
const keyPattern = /^[A-Za-z0-9_.-]{1,32}$/
const maxValueLength = 128

/** Settings that apply to messages of every channel. */
export const messageSettings = {
  HEALTH_ALERT_INSTANCE_NAME: optionalTextSetting(
    'Name of this installation, at most 64 characters; shown in brackets before each message.',
  ),
  HEALTH_ALERT_DASHBOARD_URL: urlSetting('Public URL of the dashboard; messages link to its health page.', {
    protocols: ['http', 'https'],
  }),
  HEALTH_ALERT_METADATA: optionalTextSetting(
    'Up to 10 key-value pairs added to each message, as key=value,key2=value2 or a JSON object; do not put secrets here.',
  ),
  HEALTH_ALERT_CHANGES: wholeNumberSetting(
    3,
    'Maximum number of changes of the host in the hour before an alert that its message lists; 0 lists none.',
    { min: 0, max: 3 },
  ),
} as const

const lenientSettings = makeLenient(messageSettings)

/** Message settings with their current values. */
export interface MessageSettings {
  instance: string | null
  dashboardUrl: string | null
  metadata: Readonly<Record<string, string>>
  /** IANA name of the time zone for timestamps. */
  zone: string
  /** Whether buttons in messages are handled. */
  isInteractive: boolean
}

/** Reads the message settings; invalid values count as unset. */
export const readMessageSettings = (env: Environment): MessageSettings => {
  const settings = parseSettings(lenientSettings, env)
  const name = toOneLine(settings.HEALTH_ALERT_INSTANCE_NAME ?? '')
  return {
    instance: name === '' ? null : [...name].slice(0, maxNameLength).join(''),
    dashboardUrl: toBaseUrl(settings.HEALTH_ALERT_DASHBOARD_URL),
    metadata: readMetadata(settings.HEALTH_ALERT_METADATA),
    zone: readDisplayZone(env) ?? 'UTC',
    isInteractive: canVerifySlackActions(env),
  }
}

/** Returns the base URL of links, without credentials, because recipients must not see them; null if unset. */
const toBaseUrl = (text: URL | undefined): string | null =>
  text === undefined ? null : `${text.origin}${text.pathname}`.replace(/\/+$/, '')

/** Returns the first ten valid pairs of a JSON object or of a list such as `key=value,key=value`. */
export const readMetadata = (text: string | undefined): Record<string, string> => {
  const pairs = text?.trim().startsWith('{') ? parseJsonPairs(text) : parseListPairs(text ?? '')
  const valid = new Map(pairs.filter(([key, value]) => keyPattern.test(key) && isValue(value)))
  return Object.fromEntries([...valid].slice(0, maxPairs))
}

const isValue = (value: string): boolean => [...value].length <= maxValueLength && !/[\r\n\u2028\u2029]/.test(value)

const parseListPairs = (text: string): [string, string][] =>
  text.split(',').flatMap((pair) => {
    const at = pair.indexOf('=')
    return at < 0 ? [] : [[pair.slice(0, at).trim(), pair.slice(at + 1).trim()]]
  })

const parseJsonPairs = (text: string): [string, string][] => {
  const parsed = parseJson(text)
  if (typeof parsed !== 'object' || parsed === null) return []
  return Object.entries(parsed).flatMap(([key, value]: [string, unknown]) =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? [[key, String(value)]] : [],
  )
}

/** Replaces line breaks and other control characters, which could start a new field or header. */
export const toOneLine = (text: string): string => text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()

/** Returns a setting for the minimum severity of a channel; invalid values are ignored. */
export const createMinSeveritySetting = (doc: string, fallback?: Severity): Setting<Severity | undefined> => ({
  doc,
  audience: 'server',
  fallback: fallback ?? 'HEALTH_ALERT_MIN_SEVERITY',
  allowed: 'warning, critical; anything else is ignored',
  parse: (text) => {
    const severity = text?.trim().toLowerCase()
    return severity === 'warning' || severity === 'critical' ? severity : fallback
  },
})
