import type { InsightRow } from '#proto/insight-rows.ts'
import { fitLine } from './line.ts'
import { range } from './words.ts'

const leastPoints = 48
/** Less history since the last drop tells nothing. */
export const leastSpanHours = 72
const muchHistoryDays = 6
const shortHours = 48
/** A drop by more than this share begins a new history: something was removed. */
const drop = 0.05
/** Growth within the window has to be so many times what the points scatter beside the line. */
const leastScore = 3
/** A disk that was emptied below this share of its size is emptied as a habit, not in need. */
const comfortable = 0.8

type Row = InsightRow<'disk-hours'>
type KnownRow = Row & { usedBytes: number; totalBytes: number }

/** How a disk goes on, from lines through the last 14 and 2 days since the last drop. */
export interface DiskForecast {
  usedBytes: number
  totalBytes: number
  /** How much history there is, in days. */
  days: number
  /** Null where it does not grow by more than it scatters, or is within what was removed before without need. */
  growth: {
    perDay: number
    /** Standard deviation beside the line, in bytes. */
    spread: number
    /** Growth within the window by what the points scatter. */
    score: number
    /** Days until it is full, by the faster and the slower of the two lines. */
    soonest: number
    latest: number
  } | null
}

/** Hours of a disk of which both figures are known, none of them of the future. */
export const knownDiskHours = (rows: readonly Row[]): KnownRow[] =>
  rows.filter((row): row is KnownRow => Boolean(row.usedBytes && row.totalBytes) && row.hoursAgo >= 0)

/** What becomes of one disk, or in words why nothing can be told. */
export const forecastDisk = (rows: readonly KnownRow[]): DiskForecast | string => {
  const { history, emptiedAt } = sinceLastDrop(rows.toSorted((one, other) => other.hoursAgo - one.hoursAgo))
  const [first, last] = [history[0], history.at(-1)]
  if (!first || !last || history.length < leastPoints || first.hoursAgo - last.hoursAgo < leastSpanHours) {
    return 'not enough history, less than 3 days since the last drop'
  }
  const { usedBytes, totalBytes } = last
  const known = { usedBytes, totalBytes, days: (first.hoursAgo - last.hoursAgo) / 24 }
  const long = growthOf(history)
  const isHabit = usedBytes <= emptiedAt * (1 + drop) && emptiedAt < comfortable * totalBytes
  if (!long || long.score < leastScore || isHabit) return { ...known, growth: null }
  const short = growthOf(history.filter(({ hoursAgo }) => hoursAgo < shortHours))
  const days = [long, ...(short && short.score >= leastScore ? [short] : [])].map(
    ({ perDay }) => (totalBytes - usedBytes) / perDay,
  )
  return { ...known, growth: { ...long, soonest: Math.min(...days), latest: Math.max(...days) } }
}

/** How sure a forecast is that rests on so much history. */
export const confidenceOf = (days: number): 'high' | 'medium' => (days >= muchHistoryDays ? 'high' : 'medium')

/** How many hours of history there are since the last drop. */
export const historyHours = (rows: readonly KnownRow[]): number => {
  const { history } = sinceLastDrop(rows.toSorted((one, other) => other.hoursAgo - one.hoursAgo))
  return (history[0]?.hoursAgo ?? 0) - (history.at(-1)?.hoursAgo ?? 0)
}

/** What becomes of a disk, in words. */
export const outlookOf = (forecast: DiskForecast | string): string => {
  if (typeof forecast === 'string') return forecast
  const { growth } = forecast
  return growth ? `full in ${range(growth.soonest, growth.latest)} days if it goes on so` : 'is not filling up'
}

/** What followed the last drop, and how much was used before it; 0 where there was none. */
const sinceLastDrop = (rows: readonly KnownRow[]): { history: readonly KnownRow[]; emptiedAt: number } => {
  const begins = rows.findLastIndex(({ usedBytes }, index) => {
    const before = rows[index - 1]
    return before !== undefined && usedBytes < before.usedBytes * (1 - drop)
  })
  return begins === -1
    ? { history: rows, emptiedAt: 0 }
    : { history: rows.slice(begins), emptiedAt: rows[begins - 1]?.usedBytes ?? 0 }
}

const growthOf = (rows: readonly KnownRow[]) => {
  const line = fitLine(rows.map(({ hoursAgo, usedBytes }) => ({ x: -hoursAgo / 24, y: usedBytes })))
  if (!line || line.slope <= 0) return undefined
  const days = ((rows[0]?.hoursAgo ?? 0) - (rows.at(-1)?.hoursAgo ?? 0)) / 24
  // What does not scatter at all is as sure as can be; a byte keeps the score a number.
  return { perDay: line.slope, spread: line.spread, score: (line.slope * days) / Math.max(1, line.spread) }
}
