import type { Severity } from '#proto/rules.ts'
import { takesChatActions, displayZone } from '#shared/config/shared-settings.ts'
import type { Environment } from '#shared/config/environment.ts'
import { type Setting, optional, read, url } from '#shared/config/setting.ts'
import { parseJson } from '#shared/text/parse-json.ts'
import { forgiving } from '../forgiving-settings.ts'

const maxNameLength = 64
const maxPairs = 10
const keyShape = /^[A-Za-z0-9_.-]{1,32}$/
const maxValueLength = 128

/** What stands in every message, whatever channel it goes through. */
export const messageSettings = {
  HEALTH_ALERT_INSTANCE_NAME: optional(
    'Name of this installation, of at most 64 characters; stands in brackets before each message.',
  ),
  HEALTH_ALERT_DASHBOARD_URL: url('Public address of the product; messages link to the health page below it.', {
    protocols: ['http', 'https'],
  }),
  HEALTH_ALERT_METADATA: optional(
    'Up to 10 pairs that go with each message, as key=value,key2=value2 or a JSON object; no secrets.',
  ),
} as const

const forgivingSettings = forgiving(messageSettings)

/** What the operator wants in every message. */
export interface MessageFrame {
  instance: string | null
  dashboardUrl: string | null
  metadata: Readonly<Record<string, string>>
  /** IANA name of the zone in which messages name instants. */
  zone: string
  /** Whether it is heard of when somebody presses a button under a message. */
  isInteractive: boolean
}

/** The frame of messages, as its settings are now. */
export const messageFrame = (env: Environment): MessageFrame => {
  const settings = read(forgivingSettings, env)
  const name = oneLine(settings.HEALTH_ALERT_INSTANCE_NAME ?? '')
  return {
    instance: name === '' ? null : [...name].slice(0, maxNameLength).join(''),
    dashboardUrl: baseOf(settings.HEALTH_ALERT_DASHBOARD_URL),
    metadata: readMetadata(settings.HEALTH_ALERT_METADATA),
    zone: displayZone(env) ?? 'UTC',
    isInteractive: takesChatActions(env),
  }
}

/** Paths are put behind it; a password that stands in it is for nobody who reads messages. */
const baseOf = (given: URL | undefined): string | null =>
  given === undefined ? null : `${given.origin}${given.pathname}`.replace(/\/+$/, '')

/** The valid pairs of a list or a JSON object, the first ten of them. */
export const readMetadata = (text: string | undefined): Record<string, string> => {
  const pairs = text?.trim().startsWith('{') ? pairsOfJson(text) : pairsOfList(text ?? '')
  const valid = new Map(pairs.filter(([key, value]) => keyShape.test(key) && isValue(value)))
  return Object.fromEntries([...valid].slice(0, maxPairs))
}

const isValue = (value: string): boolean => [...value].length <= maxValueLength && !/[\r\n\u2028\u2029]/.test(value)

const pairsOfList = (text: string): [string, string][] =>
  text.split(',').flatMap((pair) => {
    const at = pair.indexOf('=')
    return at < 0 ? [] : [[pair.slice(0, at).trim(), pair.slice(at + 1).trim()]]
  })

const pairsOfJson = (text: string): [string, string][] => {
  const parsed = parseJson(text)
  if (typeof parsed !== 'object' || parsed === null) return []
  return Object.entries(parsed).flatMap(([key, value]: [string, unknown]) =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? [[key, String(value)]] : [],
  )
}

/** A text without line breaks and other control characters, which would begin something of their own where it is put. */
export const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()

/** The floor of a channel: other words than the two severities are ignored. */
export const severityFloor = (doc: string, fallback?: Severity): Setting<Severity | undefined> => ({
  doc,
  audience: 'server',
  fallback: fallback ?? 'HEALTH_ALERT_MIN_SEVERITY',
  allowed: 'warning, critical; anything else is ignored',
  parse: (given) => {
    const word = given?.trim().toLowerCase()
    return word === 'warning' || word === 'critical' ? word : fallback
  },
})
