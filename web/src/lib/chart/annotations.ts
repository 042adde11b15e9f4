import { createContext } from 'svelte'
import type { ChartState } from '#lib/api/chart-states.ts'
import type { RecordedChange } from '#lib/api/changes.ts'
import type { Deployment } from '#lib/api/deployments.ts'
import type { ConditionHistoryEntry } from '#lib/api/health.ts'
import { readInstant } from '#lib/ui/time.ts'
import { changeKindNames, isInHistory } from './recorded-changes.ts'

/** An event that may explain a change in a chart. */
export interface Annotation {
  timeMs: number
  /** The kind of event, such as `Version`, `Settings`, `Alert` or `Deploy`. */
  kind: string
  text: string
}

export interface Annotations {
  readonly list: readonly Annotation[]
}

export const [getAnnotations, setAnnotations] = createContext<Annotations>()

/** Maximum number of annotations, because more would hide the chart. The latest ones are kept. */
const maxAnnotations = 60

/**
 * Combines changes of the host, alerts and deployments into annotations, oldest first. An alert has one annotation, at its
 * first breach: the notification follows sweeps later.
 */
export const toAnnotations = (
  changes: ChartState | undefined,
  alerts: readonly ConditionHistoryEntry[],
  deployments: readonly Deployment[],
  recorded: readonly RecordedChange[] = [],
): Annotation[] => {
  const changed = (changes?.data?.rows ?? []).flatMap((row) => {
    const timeMs = readInstant(row.time)
    const kind = String(row.kind)
    return timeMs === null || isInHistory(timeMs, kind, recorded) ? [] : [{ timeMs, kind, text: String(row.what) }]
  })
  // The history is sorted newest first, so that the last severity of an episode is kept.
  const fired = alerts.filter(({ kind }) => kind === 'fire' || kind === 'escalate')
  const started = fired
    .filter(({ episode }, index) => fired.findIndex((other) => other.episode === episode) === index)
    .map(({ sinceMs, title, severity }) => ({ timeMs: sinceMs, kind: 'Alert', text: `${title} (${severity})` }))
  const deployed = deployments.map((each) => ({
    timeMs: each.atMs,
    kind: kinds[each.kind] ?? 'Deploy',
    text: describeDeployment(each),
  }))
  return [...changed, ...recorded.flatMap(toAnnotation), ...started, ...deployed]
    .toSorted((a, b) => a.timeMs - b.timeMs)
    .slice(-maxAnnotations)
}

/** Alerts and deployments have their own annotations, and single query patterns would hide the others. */
const toAnnotation = ({ atMs, kind, title, detail, href }: RecordedChange): Annotation[] => {
  const name = changeKindNames[kind]
  if (name === undefined || kind === 'alert' || kind === 'deployment' || href?.startsWith('/fingerprints')) return []
  return [{ timeMs: atMs, kind: name, text: detail === '' ? title : `${title}: ${detail}` }]
}

const kinds: Readonly<Record<string, string>> = { release: 'Release', push: 'Push' }

/** Describes a deployment, such as `acme/shop: main a1b2c3d to production (failure)`. */
const describeDeployment = ({ repository, title, outcome }: Deployment): string =>
  `${repository}: ${title}${outcome === null ? '' : ` (${outcome})`}`

/**
 * Drops annotations that are less than `minGap` pixels after the previous one. Alerts are compared only with alerts,
 * other annotations only with each other. `place` returns the position of an instant in pixels.
 */
export const dropOverlaps = (
  list: readonly Annotation[],
  place: (timeMs: number) => number,
  minGap: number,
): Annotation[] => {
  const last = new Map<boolean, number>()
  return list.filter(({ timeMs, kind }) => {
    const [isAlert, x] = [kind === 'Alert', place(timeMs)]
    const before = last.get(isAlert)
    if (before !== undefined && x - before < minGap) return false
    last.set(isAlert, x)
    return true
  })
}

/** Returns the annotations within the bucket that starts at `fromMs`; its end is excluded. */
export const filterAnnotations = (list: readonly Annotation[], fromMs: number, lengthMs: number): Annotation[] =>
  list.filter(({ timeMs }) => timeMs >= fromMs && timeMs < fromMs + lengthMs)
