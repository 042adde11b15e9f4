import { createContext } from 'svelte'
import type { ChartAnswer } from '#lib/api/chart-answers.ts'
import type { Deployment } from '#lib/api/deployments.ts'
import type { HistoryLine } from '#lib/api/health.ts'
import { readInstant } from '#lib/ui/time.ts'

/** Something that happened at an instant and may explain what a chart shows. */
export interface Marker {
  timeMs: number
  /** What kind of event, in a word: `Version`, `Settings`, `Alert`, `Deploy`. */
  kind: string
  text: string
}

export interface Markers {
  readonly list: readonly Marker[]
}

export const [getMarkers, setMarkers] = createContext<Markers>()

/** More marks would hide the chart; the latest stand. */
const maximumMarkers = 60

/** What changed on the host, as the chart of changes tells it, what fired there, and what was put into use anywhere. */
export const toMarkers = (
  changes: ChartAnswer | undefined,
  alerts: readonly HistoryLine[],
  deployments: readonly Deployment[],
): Marker[] => {
  const changed = (changes?.data?.rows ?? []).flatMap((row) => {
    const timeMs = readInstant(row.time)
    return timeMs === null ? [] : [{ timeMs, kind: String(row.kind), text: String(row.what) }]
  })
  const fired = alerts
    .filter(({ kind }) => kind === 'fire' || kind === 'escalate')
    .map(({ atMs, title, severity }) => ({ timeMs: atMs, kind: 'Alert', text: `${title} (${severity})` }))
  const deployed = deployments.map((each) => ({
    timeMs: each.atMs,
    kind: kinds[each.kind] ?? 'Deploy',
    text: said(each),
  }))
  return [...changed, ...fired, ...deployed].toSorted((a, b) => a.timeMs - b.timeMs).slice(-maximumMarkers)
}

const kinds: Readonly<Record<string, string>> = { release: 'Release', push: 'Push' }

/** `acme/shop: main a1b2c3d to production (failure)` */
const said = ({ repository, title, outcome }: Deployment): string =>
  `${repository}: ${title}${outcome === null ? '' : ` (${outcome})`}`

/** Of marks that would be drawn on one another the first: `place` tells where each would stand, in order. */
export const apart = (list: readonly Marker[], place: (timeMs: number) => number, leastApart: number): Marker[] => {
  const last = new Map<boolean, number>()
  return list.filter(({ timeMs, kind }) => {
    const [isAlert, x] = [kind === 'Alert', place(timeMs)]
    const before = last.get(isAlert)
    if (before !== undefined && x - before < leastApart) return false
    last.set(isAlert, x)
    return true
  })
}

/** The marks of one bucket of a chart. */
export const markersIn = (list: readonly Marker[], fromMs: number, lengthMs: number): Marker[] =>
  list.filter(({ timeMs }) => timeMs >= fromMs && timeMs < fromMs + lengthMs)
