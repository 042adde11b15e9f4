import type { Row } from '#proto/query.ts'
import { readNumber } from '#lib/chart/series.ts'

/**
 * How far each request reads back before the newest row, in milliseconds. Hosts write their logs every 7.5 seconds by
 * default, from several threads, so rows become visible slightly out of order.
 */
export const overlapMs = 15_000
/** How far the first request reads back. */
const firstWindowMs = 120_000
/** Maximum number of lines that are kept. Older ones are dropped. */
export const maxLines = 1_000

/** A row with a number that is unique within the buffer. */
export interface BufferedRow {
  id: number
  timeMs: number
  row: Row
}

/** The rows of a followed log, newest first. */
export interface TailState {
  rows: readonly BufferedRow[]
  /** The time of the newest row; null before the first one. */
  newestMs: number | null
  /** Number of rows that were dropped because the buffer was full. */
  dropped: number
  /** Whether rows were skipped because more arrived than one request reads. */
  hasSkipped: boolean
  /** Numbers of received rows by key, for rows that the next request reads again. */
  seen: ReadonlyMap<string, { timeMs: number; count: number }>
  nextId: number
}

export const emptyTail: TailState = {
  rows: [],
  newestMs: null,
  dropped: 0,
  hasSkipped: false,
  seen: new Map(),
  nextId: 1,
}

/** Returns the time range of the next request in epoch seconds; the end is excluded. */
export const getNextWindow = ({ newestMs }: TailState, nowMs: number): { from: number; to: number } => {
  const fromMs = newestMs === null ? nowMs - firstWindowMs : Math.min(newestMs, nowMs) - overlapMs
  return { from: Math.floor(fromMs / 1000), to: Math.ceil(nowMs / 1000) + 1 }
}

const timeOf = (row: Row): number => readNumber(row['time']) ?? 0

/**
 * Adds the rows of a request. Rows that an earlier request returned are recognised by time and key; equal rows count as
 * often as the log contains them. `isComplete` is false if the time range has more rows than were requested.
 */
export const addRows = (
  state: TailState,
  rows: readonly Row[],
  { key, isComplete }: { key: readonly string[]; isComplete: boolean },
): TailState => {
  const received = new Map<string, number>()
  const seen = new Map(state.seen)
  let { nextId } = state
  const added: BufferedRow[] = []
  for (const row of rows) {
    const timeMs = timeOf(row)
    const name = JSON.stringify([timeMs, ...key.map((column) => row[column])])
    const count = (received.get(name) ?? 0) + 1
    received.set(name, count)
    if (count <= (seen.get(name)?.count ?? 0)) continue
    seen.set(name, { timeMs, count })
    added.push({ id: nextId++, timeMs, row })
  }
  const newestMs = added.reduce((newest, { timeMs }) => Math.max(newest, timeMs), state.newestMs ?? 0) || null
  const merged = [...added, ...state.rows].toSorted((one, other) => other.timeMs - one.timeMs || other.id - one.id)
  const horizonMs = (newestMs ?? 0) - overlapMs - 1_000
  return {
    rows: merged.slice(0, maxLines),
    newestMs,
    dropped: state.dropped + Math.max(0, merged.length - maxLines),
    hasSkipped: state.hasSkipped || (!isComplete && state.newestMs !== null),
    seen: new Map([...seen].filter(([, { timeMs }]) => timeMs >= horizonMs)),
    nextId,
  }
}
