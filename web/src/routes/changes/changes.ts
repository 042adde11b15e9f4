import type { AuditRecord } from '#lib/api/audit.ts'
import type { ChartState } from '#lib/api/chart-states.ts'
import type { Deployment } from '#lib/api/deployments.ts'
import type { RecordedChange } from '#lib/api/changes.ts'
import type { ConditionHistoryEntry } from '#lib/api/health.ts'
import { toLocalDay, readInstant } from '#lib/ui/time.ts'

/** The kinds of changes, in the order of the filter. The first six come from the logs of the host. */
export const changeKinds = [
  'Version',
  'Server',
  'Settings',
  'Schema',
  'Mutation',
  'Access',
  'Topology',
  'Deployment',
  'Alert',
  'Action',
] as const
export type ChangeKind = (typeof changeKinds)[number]

/** Something that changed on a host or around it. */
export interface Change {
  id: string
  atMs: number
  kind: ChangeKind
  text: string
  /** A second, less prominent text. */
  detail: string
  /** A page with more about it: a path, or an external address. */
  href: string | null
  /** A unified diff; null if the change has none. */
  diff: string | null
}

interface ChangeSources {
  /** Changes of definitions according to the history. */
  recorded: readonly RecordedChange[]
  /** Rows of the chart of host changes. */
  host: ChartState | undefined
  deployments: readonly Deployment[]
  alerts: readonly ConditionHistoryEntry[]
  actions: readonly AuditRecord[]
}

const isChangeKind = (kind: unknown): kind is ChangeKind => changeKinds.some((each) => each === kind)

/** Combines changes of all sources within a time range, newest first. */
export const listChanges = (sources: ChangeSources, fromMs: number, toMs: number): Change[] => {
  const ofHost = (sources.host?.data?.rows ?? []).flatMap((row, index): Change[] => {
    const atMs = readInstant(row['time'])
    const { kind } = row
    if (atMs === null || !isChangeKind(kind)) return []
    return [{ id: `host ${index}`, atMs, kind, text: String(row['what']), detail: '', href: null, diff: null }]
  })
  const recorded = sources.recorded.flatMap(({ kind, atMs, title, detail, href, diff }, index): Change[] => {
    const shown = recordedKinds[kind]
    return shown ? [{ id: `recorded ${index}`, atMs, kind: shown, text: title, detail, href, diff }] : []
  })
  const deployments = sources.deployments.map((each): Change => {
    const { id, atMs, repository, title, environment, outcome, by, url } = each
    const detail = [environment, outcome, by && `by ${by}`].filter(Boolean).join(' · ')
    return {
      id: `deployment ${id}`,
      atMs,
      kind: 'Deployment',
      text: `${repository}: ${title}`,
      detail,
      href: url,
      diff: null,
    }
  })
  const alerts = sources.alerts.flatMap(({ id, atMs, kind, title, severity, hostId }): Change[] => {
    const word = alertWords[kind]
    if (word === undefined) return []
    const href = hostId === null ? '/health' : `/health?host=${hostId}`
    return [{ id: `alert ${id}`, atMs, kind: 'Alert', text: `${title} ${word}`, detail: severity, href, diff: null }]
  })
  const actions = sources.actions.map(({ id, atMs, action, actor, target, result }): Change => {
    const detail = [`by ${actor.subject}`, result === 'done' ? null : result, ...Object.values(target)]
    return {
      id: `action ${id}`,
      atMs,
      kind: 'Action',
      text: action,
      detail: detail.filter(Boolean).join(' · '),
      href: `/audit?action=${encodeURIComponent(action)}`,
      diff: null,
    }
  })
  return [...ofHost, ...recorded, ...deployments, ...alerts, ...actions]
    .filter(({ atMs }) => atMs >= fromMs && atMs <= toMs)
    .toSorted((one, other) => other.atMs - one.atMs)
}

/** Kinds of the history; deployments and alerts have their own sources. */
const recordedKinds: Readonly<Record<string, ChangeKind>> = {
  version: 'Version',
  settings: 'Settings',
  schema: 'Schema',
  access: 'Access',
  topology: 'Topology',
}

/** The events of conditions that are changes. Reminders and muted notifications are none. */
const alertWords: Readonly<Record<string, string>> = {
  fire: 'fired',
  escalate: 'became critical',
  lower: 'became a warning',
  recover: 'recovered',
}

/** Returns the changes of a kind that contain a text. */
export const filterChanges = (changes: readonly Change[], kind: ChangeKind | null, search: string): Change[] => {
  const wanted = search.trim().toLowerCase()
  return changes.filter(
    (change) =>
      (kind === null || change.kind === kind) && `${change.text} ${change.detail}`.toLowerCase().includes(wanted),
  )
}

/** Returns the kind in a URL; null if there is none or if it is unknown. */
export const readChangeKind = (text: string | null): ChangeKind | null => (isChangeKind(text) ? text : null)

/** Groups changes by day in a time zone. Keeps their order. */
export const groupChangesByDay = (changes: readonly Change[], zone: string): { day: number; changes: Change[] }[] =>
  [...Map.groupBy(changes, ({ atMs }) => toLocalDay(atMs, zone).day)].map(([day, found]) => ({ day, changes: found }))
