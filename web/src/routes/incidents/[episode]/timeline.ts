import type { Row } from '#proto/query.ts'
import type { Deployment } from '#lib/api/deployments.ts'
import type { Incident } from '#lib/api/incidents.ts'
import { toAnnotations } from '#lib/chart/annotations.ts'
import type { ChartState } from '#lib/api/chart-states.ts'
import { formatEventKind, formatMuteReason } from '../../health/condition-text.ts'

/** An entry of the timeline of an incident. */
export interface TimelineEntry {
  id: string
  atMs: number
  kind: 'event' | 'note' | 'change'
  /** What happened, such as `Fired` or `Settings`. */
  label: string
  text: string
  /** The author of a note. */
  by?: string
  /** The id of a note that the user may delete. */
  noteId?: string
}

interface TimelineSources {
  incident: Incident
  /** The chart of the changes of the host. */
  changes: ChartState | undefined
  deployments: readonly Deployment[]
}

/** Merges events of the condition, changes of the host, deployments and notes, oldest first. */
export const createTimeline = ({ incident, changes, deployments }: TimelineSources): TimelineEntry[] => {
  const events = incident.events.map(({ id, atMs, kind, reason }): TimelineEntry => ({
    id,
    atMs,
    kind: 'event',
    label: formatEventKind(kind),
    text: kind === 'held' ? formatMuteReason(reason) : reason,
  }))
  const notes = incident.notes.map(({ id, atMs, text, by, isOwn }): TimelineEntry => ({
    id,
    atMs,
    kind: 'note',
    label: 'Note',
    text,
    by,
    ...(isOwn && { noteId: id }),
  }))
  const annotations = toAnnotations(changes, [], deployments).map(({ timeMs, kind, text }, index): TimelineEntry => ({
    id: `change-${index}`,
    atMs: timeMs,
    kind: 'change',
    label: kind,
    text,
  }))
  return [...createStart(incident), ...events, ...notes, ...annotations].toSorted((a, b) => a.atMs - b.atMs)
}

/** Returns the first breach, unless the first event has its time. Before an alert is sent, no event has it. */
const createStart = ({ events: [first] }: Incident): TimelineEntry[] =>
  first === undefined || (first.kind === 'fire' && first.atMs === first.sinceMs)
    ? []
    : [{ id: 'start', atMs: first.sinceMs, kind: 'event', label: 'First breach', text: `severity ${first.severity}` }]

/** The period of an incident in epoch milliseconds; `endMs` is null while it lasts. */
export interface IncidentPeriod {
  startMs: number
  endMs: number | null
}

/** Returns the period of an incident: from the first breach to the recovery. */
export const findPeriod = ({ events }: Incident, sinceMs: number): IncidentPeriod => ({
  startMs: events[0]?.sinceMs ?? sinceMs,
  endMs: events.findLast(({ kind }) => kind === 'recover')?.atMs ?? null,
})

/** A query in the report of an incident. */
export interface AffectedQuery {
  id: string
  text: string
  outcome: string
}

/** Returns a row of a table page of queries for the report. */
export const toAffectedQuery = (row: Row, outcome: string): AffectedQuery => ({
  id: String(row['query_id'] ?? ''),
  text: String(row['query'] ?? ''),
  outcome,
})

interface Report {
  title: string
  host: string
  severity: string
  link: string
  period: IncidentPeriod
  timeline: readonly TimelineEntry[]
  queries: readonly AffectedQuery[]
  write: (atMs: number) => string
}

/** Escapes the characters that Markdown interprets, and puts the text on one line. */
const toLine = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll(/[\\`*_{}[\]<>#|]/g, String.raw`\$&`)

/** Returns the report of an incident as Markdown. */
export const writeReport = ({ title, host, severity, link, period, timeline, queries, write }: Report): string => {
  const end = period.endMs === null ? 'not recovered' : write(period.endMs)
  const lines = timeline.map(
    ({ atMs, label, text, by }) =>
      `- ${write(atMs)} **${toLine(label)}**${by ? ` by ${toLine(by)}` : ''}: ${toLine(text)}`,
  )
  const affected = queries.map(({ id, text, outcome }) => `- ${toLine(outcome)}: \`${id}\` ${toLine(text)}`)
  return [
    `# ${toLine(title)}`,
    '',
    `- Host: ${toLine(host)}`,
    `- Severity: ${severity}`,
    `- Start: ${write(period.startMs)}`,
    `- End: ${end}`,
    `- Link: ${link}`,
    '',
    '## Timeline',
    '',
    ...(lines.length > 0 ? lines : ['No events.']),
    '',
    '## Affected queries',
    '',
    ...(affected.length > 0 ? affected : ['None found.']),
    '',
  ].join('\n')
}
