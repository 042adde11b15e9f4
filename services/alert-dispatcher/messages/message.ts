import { Temporal } from 'temporal-polyfill'
import { unitValueMappings } from '#proto/unit-words.ts'
import type { Severity } from '#proto/rules.ts'
import { truncateText, formatDuration, formatQuantity } from './text.ts'
import { type MessageSettings, toOneLine } from './message-settings.ts'
import type { Notification } from '../notification.ts'

/** A rendered notification, before a channel formats it. Only `runbook` may contain line breaks. */
export interface Message {
  notification: Notification
  /** Timestamp of the notification: ISO 8601 with the offset of the display time zone. */
  at: string
  /** Id of this installation, in every message, so that events that return to it are recognized. */
  origin: string
  /** `[instance] CRITICAL: title on host (value)`; many lock screens show nothing else. */
  headline: string
  /** Null if the notification concerns no host; `id` is null if the host is no longer listed. */
  host: { key: string; id: number | null; name: string } | null
  severity: Severity
  isOver: boolean
  /** Decides the color of the message. */
  tone: Severity | 'over' | 'plain'
  /** Labels and values, the most important first. */
  facts: readonly MessageFact[]
  /** The conditions of a digest or group, one line each. */
  gathered: readonly string[]
  /** The notifications of a group; empty for a single notification. */
  members: readonly Notification[]
  /** The runbook, or the text of another service. */
  runbook: string
  url: string | null
  instance: string | null
  metadata: Readonly<Record<string, string>>
  /** Whether buttons in the message are handled. */
  isInteractive: boolean
}

/** A label and its value, such as `Host` and the host name. */
export interface MessageFact {
  label: string
  value: string
}

/** Id and name of a listed host. */
export interface NamedHost {
  id: number
  name: string
}

/** Values that every message contains: the message settings and the installation id. */
export interface RenderSettings extends MessageSettings {
  origin: string
  /** What changed on the host in the hour before. */
  changes?: readonly string[]
}

/** Renders a notification. `hosts` are the listed hosts by key; links use their current ids. */
export const renderMessage = (
  notification: Notification,
  { origin, instance, dashboardUrl, metadata, zone, isInteractive, changes = [] }: RenderSettings,
  hosts: ReadonlyMap<string, NamedHost>,
): Message => {
  const where = findPlace(notification, hosts)
  const prefix = instance === null ? '' : `[${instance}] `
  const title = toOneLine(notification.title)
  return {
    notification,
    at: formatInstant(notification.atMs, zone),
    origin,
    headline: `${prefix}${statusPrefix(notification)}${title}${placeSuffix(notification, hosts)}${valueSuffix(notification)}`,
    host: findHost(notification, hosts),
    severity: notification.severity,
    isOver: notification.kind === 'recover',
    tone: selectTone(notification),
    facts: buildFacts(notification, where, { metadata, zone, changes }),
    gathered: notification.gathered.map((entry) => renderDigestLine(entry, hosts)),
    members: [],
    runbook: selectText(notification),
    url: dashboardUrl === null ? null : buildLink(dashboardUrl, notification, hosts),
    instance,
    metadata,
    isInteractive,
  }
}

const statusPrefix = ({ kind, severity, isUnseen }: Notification): string => {
  if (kind === 'notify') return ''
  // A condition that was closed without an ok evaluation must not be called recovered.
  if (kind === 'recover') return isUnseen ? 'CLOSED: ' : 'RECOVERED: '
  if (kind === 'test') return 'TEST: '
  if (kind === 'digest') return 'DIGEST: '
  return kind === 'remind' ? `STILL ${severity.toUpperCase()}: ` : `${severity.toUpperCase()}: `
}

/**
 * Returns the value in parentheses for firing conditions. A bare number is left out, because it is meaningless without
 * its rule.
 */
const valueSuffix = ({ kind, value, unit }: Notification): string =>
  value !== null && firingKinds.has(kind) && !unitsWithoutValue.has(unit) ? ` (${formatQuantity(value, unit)})` : ''

const firingKinds: ReadonlySet<Notification['kind']> = new Set(['fire', 'escalate', 'remind'])
const unitsWithoutValue: ReadonlySet<Notification['unit']> = new Set(['count', 'ratio', 'level', 'yes-no', 'none'])

const selectTone = ({ kind, severity }: Notification): Message['tone'] => {
  if (kind === 'recover') return 'over'
  return kind === 'notify' ? 'plain' : severity
}

const selectText = ({ kind, announced, runbook }: Notification): string =>
  kind === 'recover' ? '' : (announced?.text ?? runbook).trim()

const findHost = ({ hostKey }: Notification, hosts: ReadonlyMap<string, NamedHost>): Message['host'] => {
  if (hostKey === null) return null
  const host = hosts.get(hostKey)
  return { key: hostKey, id: host?.id ?? null, name: toOneLine(host?.name ?? hostKey) }
}

const findPlace = (
  { hostKey, source }: Pick<Notification, 'hostKey' | 'source'>,
  hosts: ReadonlyMap<string, NamedHost>,
): string | null => {
  if (hostKey === null) return source === null ? null : toOneLine(source)
  return toOneLine(hosts.get(hostKey)?.name ?? hostKey)
}

/**
 * Returns the suffix with the host (` on <host>`) or source (`, from <source>`). Empty if the title already contains
 * the name, but alerts about a host always have the suffix.
 */
const placeSuffix = (
  notification: Pick<Notification, 'hostKey' | 'source' | 'title'> & Partial<Pick<Notification, 'kind'>>,
  hosts: ReadonlyMap<string, NamedHost>,
): string => {
  const place = findPlace(notification, hosts)
  if (place === null) return ''
  const isNamed = toOneLine(notification.title).includes(place)
  if (notification.hostKey !== null) return isNamed && notification.kind === 'notify' ? '' : ` on ${place}`
  return isNamed ? '' : `, from ${place}`
}

const buildFacts = (
  notification: Notification,
  where: string | null,
  { metadata, zone, changes }: Pick<RenderSettings, 'metadata' | 'zone'> & { changes: readonly string[] },
): MessageFact[] => {
  const pairs: readonly (readonly [string, string | null])[] = [
    [notification.hostKey === null ? 'Source' : 'Host', where],
    ...(notification.announced?.facts.map(({ label, value }) => [label, value] as const) ??
      conditionPairs(notification, zone)),
    ['Changed in the hour before', changes.map(toOneLine).join('; ')],
    ...Object.entries(metadata),
  ]
  return pairs.flatMap(([label, text]) =>
    text === null || text === '' ? [] : [{ label: toOneLine(label), value: toOneLine(text) }],
  )
}

const conditionPairs = (notification: Notification, zone: string): [string, string | null][] => {
  const { value, threshold, unit, ruleId, sinceMs, atMs, reason, offenders, kind, severity } = notification
  const isDigest = kind === 'digest'
  return [
    ['Severity', isDigest ? null : severity],
    ['Rule', isDigest ? null : ruleId],
    ['Value', value === null || isDigest ? null : formatQuantity(value, unit)],
    // The threshold of a unit with named values, such as yes and no, has no meaning.
    ['Threshold', threshold === null || unitValueMappings[unit] ? null : formatQuantity(threshold, unit)],
    [
      'Since',
      `${formatInstant(sinceMs, zone)}${atMs - sinceMs >= 1_000 ? `, for ${formatDuration(atMs - sinceMs)}` : ''}`,
    ],
    ['Reason', reason],
    ['Worst', offenders.map(toOneLine).join(', ')],
  ]
}

/** Returns ISO 8601 in seconds with the offset of the zone: `2026-11-20T14:05:00+01:00`. */
const formatInstant = (ms: number, zone: string): string => {
  const moment = Temporal.Instant.fromEpochMilliseconds(ms - (ms % 1_000))
  return zone === 'UTC' ? moment.toString() : moment.toString({ timeZone: zone })
}

const renderDigestLine = (entry: Notification['gathered'][number], hosts: ReadonlyMap<string, NamedHost>): string => {
  const { title, severity, recovered, isUnseen } = entry
  const end = isUnseen ? ' (fired, then closed)' : ' (fired and recovered)'
  return `${severity.toUpperCase()}: ${toOneLine(title)}${placeSuffix(entry, hosts)}${recovered ? end : ''}`
}

/** Returns the line of one condition in a group; for a single rule, only place and value. */
export const renderGroupLine = (
  notification: Notification,
  hosts: ReadonlyMap<string, NamedHost>,
  isOneRule: boolean,
): string => {
  const place = findPlace(notification, hosts)
  if (isOneRule && place !== null) return `${place}${valueSuffix(notification)}`
  return `${statusPrefix(notification)}${toOneLine(notification.title)}${placeSuffix(notification, hosts)}${valueSuffix(notification)}`
}

const buildLink = (
  base: string,
  { hostKey, announced }: Notification,
  hosts: ReadonlyMap<string, NamedHost>,
): string => {
  if (announced?.path !== undefined) return base + announced.path
  const host = hostKey === null ? undefined : hosts.get(hostKey)
  return host === undefined ? `${base}/health` : `${base}/health?host=${host.id}`
}

/** Returns the message as plain text of at most `maxLength` characters. A link that does not fit is omitted. */
export const toPlainText = (message: Message, maxLength: number): string => {
  const { headline, url } = message
  const text = `${headline}\n${renderBody(message)}`
  if (url === null) return truncateText(text, maxLength)
  const link = `\n\n${url}`
  return link.length >= maxLength ? truncateText(text, maxLength) : truncateText(text, maxLength - link.length) + link
}

/** Returns the text below the headline, without the link. */
export const renderBody = ({ facts, gathered, runbook }: Message): string => {
  const lines = [...facts.map(({ label, value }) => `${label}: ${value}`), ...gathered]
  return [lines.join('\n'), runbook].filter((part) => part !== '').join('\n\n')
}
