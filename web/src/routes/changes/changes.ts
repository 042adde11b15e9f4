import type { ChartState } from '#lib/api/chart-states.ts'
import type { ChangeScope, RecordedChange } from '#lib/api/changes.ts'
import { changeKindNames, isInHistory } from '#lib/chart/recorded-changes.ts'
import type { ReadableParameters } from '#lib/state/range.ts'
import { toLocalDay, readInstant } from '#lib/ui/time.ts'

/** The kinds of changes, in the order of the filter. `Server` and `Mutation` come from the log of a host only. */
export const changeKinds = [
  'Version',
  'Restart',
  'Server',
  'Settings',
  'Schema',
  'Mutation',
  'Access',
  'Topology',
  'Workload',
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
  /** Null if the change concerns no single host. */
  host: string | null
  text: string
  /** A second, less prominent text. */
  detail: string
  /** A page with more about it: a path, or an external address. */
  href: string | null
  /** A unified diff; null if the change has none. */
  diff: string | null
}

interface ChangeSources {
  /** The timeline of the API. */
  recorded: readonly RecordedChange[]
  /** Rows of the chart of host changes, and the name of that host. */
  log: ChartState | undefined
  logHost: string | null
}

const isChangeKind = (kind: unknown): kind is ChangeKind => changeKinds.some((each) => each === kind)

/**
 * Combines the timeline with statements from the log of the host within a time range, newest first. Statements whose
 * result the history contains are left out.
 */
export const listChanges = ({ recorded, log, logHost }: ChangeSources, fromMs: number, toMs: number): Change[] => {
  const logged = (log?.data?.rows ?? []).flatMap((row, index): Change[] => {
    const atMs = readInstant(row['time'])
    const { kind } = row
    if (atMs === null || !isChangeKind(kind) || isInHistory(atMs, kind, recorded)) return []
    const text = String(row['what'])
    return [{ id: `log ${index}`, atMs, kind, host: logHost, text, detail: '', href: null, diff: null }]
  })
  const listed = recorded.flatMap(({ kind, atMs, hostId, host, title, detail, href, diff }, index): Change[] => {
    const name = changeKindNames[kind]
    if (!isChangeKind(name)) return []
    const link =
      href?.startsWith('/') && hostId !== null ? `${href}${href.includes('?') ? '&' : '?'}host=${hostId}` : href
    return [{ id: `recorded ${index}`, atMs, kind: name, host, text: title, detail, href: link, diff }]
  })
  return [...logged, ...listed]
    .filter(({ atMs }) => atMs >= fromMs && atMs <= toMs)
    .toSorted((one, other) => other.atMs - one.atMs)
}

/** Returns the changes of a kind that contain a text. */
export const filterChanges = (changes: readonly Change[], kind: ChangeKind | null, search: string): Change[] => {
  const wanted = search.trim().toLowerCase()
  return changes.filter(
    (change) =>
      (kind === null || change.kind === kind) &&
      `${change.host ?? ''} ${change.text} ${change.detail}`.toLowerCase().includes(wanted),
  )
}

/** Returns the kind in a URL; null if there is none or if it is unknown. */
export const readChangeKind = (text: string | null): ChangeKind | null => (isChangeKind(text) ? text : null)

/** Returns the hosts in a URL: `hosts=all`, `group=…`, or the host of the page. */
export const readChangeScope = (parameters: ReadableParameters, hostId: number): ChangeScope => {
  const group = parameters.get('group')
  if (group) return { group }
  return parameters.get('hosts') === 'all' ? {} : { hostId }
}

/** Groups changes by day in a time zone. Keeps their order. */
export const groupChangesByDay = (changes: readonly Change[], zone: string): { day: number; changes: Change[] }[] =>
  [...Map.groupBy(changes, ({ atMs }) => toLocalDay(atMs, zone).day)].map(([day, found]) => ({ day, changes: found }))
