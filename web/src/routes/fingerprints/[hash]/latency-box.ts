import type { LatencyCell, TrendPoint } from '#proto/fingerprints.ts'
import type { UrlParameterChange } from '#lib/state/view.svelte.ts'
import type { ReadableParameters } from '#lib/state/range.ts'

/** A selection in the latency map: ranges of the end time and of the duration of executions. A null bound is open. */
export interface LatencyBox {
  /** Start and end of the time range, in epoch seconds. */
  since: number | null
  until: number | null
  minMs: number | null
  maxMs: number | null
}

export const unboundedBox: LatencyBox = { since: null, until: null, minMs: null, maxMs: null }

/** Reads the selection from the URL parameters `since`, `until`, `min` and `max`. Invalid bounds are ignored. */
export const readLatencyBox = (parameters: ReadableParameters): LatencyBox => {
  const number = (name: string): number | null => {
    const text = parameters.get(name)
    return text !== null && /^\d{1,12}$/.test(text) ? Number(text) : null
  }
  const [since, until] = [number('since'), number('until')]
  const [minMs, maxMs] = [number('min'), number('max')]
  const isSpan = since !== null && until !== null && since < until
  const isBounded = maxMs === null || maxMs > (minMs ?? 0)
  return {
    since: isSpan ? since : null,
    until: isSpan ? until : null,
    minMs: isBounded ? minMs : null,
    maxMs: isBounded ? maxMs : null,
  }
}

export const writeLatencyBox = ({ since, until, minMs, maxMs }: LatencyBox): UrlParameterChange => {
  const text = (value: number | null) => (value === null ? null : String(value))
  return { since: text(since), until: text(until), min: text(minMs), max: text(maxMs) }
}

export const isUnboundedBox = (box: LatencyBox): boolean => Object.values(box).every((bound) => bound === null)

/** The ranges of the axes: from the start of the first to the end of the last bucket, and the range of durations. */
export interface LatencyMapExtent {
  fromMs: number
  toMs: number
  stepMs: number
  shortestMs: number
  longestMs: number
}

/** Minimum of the duration axis. The axis is logarithmic, so it cannot start at 0. */
const minMs = 1
const emptyStepMs = 60_000

export const computeMapExtent = (cells: readonly LatencyCell[], trend: readonly TrendPoint[]): LatencyMapExtent => {
  const [first, second, last] = [trend[0], trend[1], trend.at(-1)]
  const fromMs = first?.timeMs ?? 0
  const stepMs = first && second ? second.timeMs - first.timeMs : emptyStepMs
  return {
    fromMs,
    stepMs,
    toMs: (last?.timeMs ?? fromMs) + stepMs,
    shortestMs: Math.max(minMs, Math.min(...cells.map((cell) => cell.fromMs))),
    longestMs: Math.max(...cells.map(({ toMs }) => toMs), minMs * 2),
  }
}

/** Returns the vertical position of a duration, from 0 at the longest to 1 at the shortest. */
export const computeVerticalPosition = (ms: number, { shortestMs, longestMs }: LatencyMapExtent): number => {
  const span = Math.log(longestMs / shortestMs)
  return span > 0 ? Math.log(longestMs / Math.max(ms, shortestMs)) / span : 0
}

/** A corner of a drag selection, as shares of width and height from 0 to 1. */
export interface BoxCorner {
  x: number
  y: number
}

/** Returns the selection between two corners, extended to whole cells. */
export const createLatencyBox = (
  one: BoxCorner,
  other: BoxCorner,
  cells: readonly LatencyCell[],
  extent: LatencyMapExtent,
): LatencyBox => {
  const { fromMs, toMs, stepMs, longestMs, shortestMs } = extent
  const instant = (x: number) => fromMs + x * (toMs - fromMs)
  const duration = (y: number) => longestMs * (shortestMs / longestMs) ** y
  const [left, right] = [Math.min(one.x, other.x), Math.max(one.x, other.x)]
  const [top, bottom] = [Math.min(one.y, other.y), Math.max(one.y, other.y)]
  const bounds = [...new Set(cells.flatMap((cell) => [cell.fromMs, cell.toMs]))].toSorted((a, b) => a - b)
  const since = fromMs + Math.floor((instant(left) - fromMs) / stepMs) * stepMs
  const until = fromMs + (Math.floor((instant(right) - fromMs) / stepMs) + 1) * stepMs
  return {
    since: Math.floor(since / 1000),
    until: Math.ceil(Math.min(until, toMs) / 1000),
    minMs: bounds.findLast((bound) => bound <= duration(bottom)) ?? 0,
    maxMs: bounds.find((bound) => bound > duration(top)) ?? Math.ceil(longestMs),
  }
}
