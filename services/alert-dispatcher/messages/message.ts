import { Temporal } from 'temporal-polyfill'
import { unitWords } from '#proto/unit-words.ts'
import type { Severity } from '#proto/rules.ts'
import { cut, lengthOfTime, quantity } from './text.ts'
import { type MessageFrame, oneLine } from './message-settings.ts'
import type { Notice } from '../notice.ts'

/** A notice in words, before any channel gives it its own form. No text in it has line breaks but `runbook`. */
export interface Message {
  notice: Notice
  /** The instant of the notice, in ISO 8601 with the offset of the display zone. */
  at: string
  /** The name of our installation: goes with every message, so that what comes back to us is known. */
  origin: string
  /** `[instance] CRITICAL: title on host (value)`: on many a lock screen this is all there is to read. */
  headline: string
  /** Null when it is about no host of ours; its id is null where it has left the list. */
  host: { key: string; id: number | null; name: string } | null
  severity: Severity
  isOver: boolean
  /** How it looks where colours are shown. */
  tone: Severity | 'over' | 'plain'
  /** Labels and values, in the order of their weight. */
  facts: readonly Fact[]
  /** What a digest or a group gathers, one line each. */
  gathered: readonly string[]
  /** The notices of a group; empty where the message is about one notice. */
  members: readonly Notice[]
  /** The runbook, or the text of what another service tells. */
  runbook: string
  url: string | null
  instance: string | null
  metadata: Readonly<Record<string, string>>
  /** Whether it is heard of when somebody presses a button under it. */
  isInteractive: boolean
}

export interface Fact {
  label: string
  value: string
}

/** The host of a notice as it is in the list now; null where it has left the list. */
export interface NamedHost {
  id: number
  name: string
}

/** What stands in every message. */
export interface Frame extends MessageFrame {
  origin: string
}

/** What a notice says. `hosts` knows those of the list by key; links are made of their present positions. */
export const messageOf = (
  notice: Notice,
  { origin, instance, dashboardUrl, metadata, zone, isInteractive }: Frame,
  hosts: ReadonlyMap<string, NamedHost>,
): Message => {
  const where = placeOf(notice, hosts)
  const prefix = instance === null ? '' : `[${instance}] `
  const title = oneLine(notice.title)
  return {
    notice,
    at: instant(notice.atMs, zone),
    origin,
    headline: `${prefix}${word(notice)}${title}${placed(notice, hosts)}${measured(notice)}`,
    host: hostOf(notice, hosts),
    severity: notice.severity,
    isOver: notice.kind === 'recover',
    tone: toneOf(notice),
    facts: factsOf(notice, where, { metadata, zone }),
    gathered: notice.gathered.map((entry) => gatheredLine(entry, hosts)),
    members: [],
    runbook: textOf(notice),
    url: dashboardUrl === null ? null : linkOf(dashboardUrl, notice, hosts),
    instance,
    metadata,
    isInteractive,
  }
}

const word = ({ kind, severity, isUnseen }: Notice): string => {
  if (kind === 'notify') return ''
  // What nobody saw to be well must not be called so.
  if (kind === 'recover') return isUnseen ? 'CLOSED: ' : 'RECOVERED: '
  if (kind === 'test') return 'TEST: '
  if (kind === 'digest') return 'DIGEST: '
  return kind === 'remind' ? `STILL ${severity.toUpperCase()}: ` : `${severity.toUpperCase()}: `
}

/** What is over has no figure that matters, and a bare number says nothing without the sentence of its rule. */
const measured = ({ kind, value, unit }: Notice): string =>
  value !== null && standing.has(kind) && !bareUnits.has(unit) ? ` (${quantity(value, unit)})` : ''

const standing: ReadonlySet<Notice['kind']> = new Set(['fire', 'escalate', 'remind'])
const bareUnits: ReadonlySet<Notice['unit']> = new Set(['count', 'ratio', 'level', 'yes-no', 'none'])

const toneOf = ({ kind, severity }: Notice): Message['tone'] => {
  if (kind === 'recover') return 'over'
  return kind === 'notify' ? 'plain' : severity
}

const textOf = ({ kind, announced, runbook }: Notice): string =>
  kind === 'recover' ? '' : (announced?.text ?? runbook).trim()

const hostOf = ({ hostKey }: Notice, hosts: ReadonlyMap<string, NamedHost>): Message['host'] => {
  if (hostKey === null) return null
  const host = hosts.get(hostKey)
  return { key: hostKey, id: host?.id ?? null, name: oneLine(host?.name ?? hostKey) }
}

const placeOf = (
  { hostKey, source }: Pick<Notice, 'hostKey' | 'source'>,
  hosts: ReadonlyMap<string, NamedHost>,
): string | null => {
  if (hostKey === null) return source === null ? null : oneLine(source)
  return oneLine(hosts.get(hostKey)?.name ?? hostKey)
}

/** A host is where it is, and a source only says so; neither is named twice, but a host may be called like part of a rule. */
const placed = (
  notice: Pick<Notice, 'hostKey' | 'source' | 'title'> & Partial<Pick<Notice, 'kind'>>,
  hosts: ReadonlyMap<string, NamedHost>,
): string => {
  const place = placeOf(notice, hosts)
  if (place === null) return ''
  const isNamed = oneLine(notice.title).includes(place)
  if (notice.hostKey !== null) return isNamed && notice.kind === 'notify' ? '' : ` on ${place}`
  return isNamed ? '' : `, from ${place}`
}

const factsOf = (
  notice: Notice,
  where: string | null,
  { metadata, zone }: Pick<Frame, 'metadata' | 'zone'>,
): Fact[] => {
  const pairs: readonly (readonly [string, string | null])[] = [
    [notice.hostKey === null ? 'Source' : 'Host', where],
    ...(notice.announced?.facts.map(({ label, value }) => [label, value] as const) ?? conditionPairs(notice, zone)),
    ...Object.entries(metadata),
  ]
  return pairs.flatMap(([label, text]) =>
    text === null || text === '' ? [] : [{ label: oneLine(label), value: oneLine(text) }],
  )
}

const conditionPairs = (notice: Notice, zone: string): [string, string | null][] => {
  const { value, threshold, unit, ruleId, sinceMs, atMs, reason, offenders, kind, severity } = notice
  const isDigest = kind === 'digest'
  return [
    ['Severity', isDigest ? null : severity],
    ['Rule', isDigest ? null : ruleId],
    ['Value', value === null || isDigest ? null : quantity(value, unit)],
    // What is so or not so has no limit that would say more.
    ['Threshold', threshold === null || unitWords[unit] ? null : quantity(threshold, unit)],
    ['Since', `${instant(sinceMs, zone)}${atMs - sinceMs >= 1_000 ? `, for ${lengthOfTime(atMs - sinceMs)}` : ''}`],
    ['Reason', reason],
    ['Worst', offenders.map(oneLine).join(', ')],
  ]
}

/** ISO 8601 to the second, with the offset of the zone: `2026-11-20T14:05:00+01:00`. */
const instant = (ms: number, zone: string): string => {
  const moment = Temporal.Instant.fromEpochMilliseconds(ms - (ms % 1_000))
  return zone === 'UTC' ? moment.toString() : moment.toString({ timeZone: zone })
}

const gatheredLine = (entry: Notice['gathered'][number], hosts: ReadonlyMap<string, NamedHost>): string => {
  const { title, severity, recovered, isUnseen } = entry
  const end = isUnseen ? ' (fired, then closed)' : ' (fired and recovered)'
  return `${severity.toUpperCase()}: ${oneLine(title)}${placed(entry, hosts)}${recovered ? end : ''}`
}

/** One condition of a group; of one rule, whose name is in the headline, only where it is and what was measured. */
export const memberLine = (notice: Notice, hosts: ReadonlyMap<string, NamedHost>, isOneRule: boolean): string => {
  const place = placeOf(notice, hosts)
  if (isOneRule && place !== null) return `${place}${measured(notice)}`
  return `${word(notice)}${oneLine(notice.title)}${placed(notice, hosts)}${measured(notice)}`
}

const linkOf = (base: string, { hostKey, announced }: Notice, hosts: ReadonlyMap<string, NamedHost>): string => {
  if (announced?.path !== undefined) return base + announced.path
  const host = hostKey === null ? undefined : hosts.get(hostKey)
  return host === undefined ? `${base}/health` : `${base}/health?host=${host.id}`
}

/** The message as plain text of at most so many characters: the link is kept, what is long gives way. */
export const plainText = (message: Message, maxLength: number): string => {
  const { headline, url } = message
  const text = `${headline}\n${bodyText(message)}`
  if (url === null) return cut(text, maxLength)
  const link = `\n\n${url}`
  return link.length >= maxLength ? cut(text, maxLength) : cut(text, maxLength - link.length) + link
}

/** What stands below the headline, without the link. */
export const bodyText = ({ facts, gathered, runbook }: Message): string => {
  const lines = [...facts.map(({ label, value }) => `${label}: ${value}`), ...gathered]
  return [lines.join('\n'), runbook].filter((part) => part !== '').join('\n\n')
}
