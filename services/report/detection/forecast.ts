import type { ForecastProjection } from '#proto/forecasts.ts'
import type { InsightRow } from '#proto/insight-rows.ts'
import { formatRange } from '../format.ts'

const minHistoryPoints = 48
/** Minimum length of the history since the last drop, in hours. */
export const minForecastHours = 72
const muchHistoryDays = 6
const shortFitHours = 48
/** Minimum relative decrease of the usage that counts as a drop. Forecasts use only the history after the last drop. */
const minDropShare = 0.05
/** Minimum score of significant growth: the growth divided by the standard deviation of the residuals. */
const minScore = 3
/** Drops from below this share of used space count as regular cleanups; others, as reactions to a full disk. */
const maxCleanupShare = 0.8

type Row = InsightRow<'disk-hours'>
type KnownRow = Row & { usedBytes: number; totalBytes: number }

/** The forecast of a disk, from linear fits over the last 14 days and the last 2 days, both since the last drop. */
export interface DiskForecast {
  usedBytes: number
  totalBytes: number
  /** Length of the history in days. */
  days: number
  /** Null if the growth is not significant, or if the disk reached this usage before a regular cleanup. */
  growth: {
    perDay: number
    /** Standard deviation of the residuals in bytes. */
    spread: number
    /** Growth within the history divided by `spread`. */
    score: number
    /** Days until the disk is full, from the faster fit; `latest` is from the slower fit. */
    soonest: number
    latest: number
  } | null
  trend: Trend
}

/** How a value may continue: its slowest, expected and fastest growth per day, and its deviation from a line. */
export interface Trend {
  slow: number
  perDay: number
  fast: number
  spread: number
}

/** The number of standard deviations around the expected value that contain 90 % of all values. */
const deviations = 1.645

/** Returns the value after a number of days, within 0 and the limit. */
export const projectTrend = (now: number, limit: number, trend: Trend, days: number): ForecastProjection => {
  const clamp = (value: number): number => Math.min(limit, Math.max(0, value))
  const margin = deviations * trend.spread
  return {
    days,
    value: clamp(now + days * trend.perDay),
    low: clamp(now + days * trend.slow - margin),
    high: clamp(now + days * trend.fast + margin),
  }
}

/** Returns the trend of a value without significant growth: it stays, but may continue its slope. */
const steadyTrend = (line: Line | undefined): Trend => ({
  slow: Math.min(0, line?.slope ?? 0),
  perDay: 0,
  fast: Math.max(0, line?.slope ?? 0),
  spread: line?.spread ?? 0,
})

/** Returns the rows whose usage and size are known and whose time is not in the future. */
export const selectKnownDiskHours = (rows: readonly Row[]): KnownRow[] =>
  rows.filter((row): row is KnownRow => Boolean(row.usedBytes && row.totalBytes) && row.hoursAgo >= 0)

/** Returns the forecast of one disk, or the reason why there is none as a string. */
export const forecastDisk = (rows: readonly KnownRow[]): DiskForecast | string => {
  const { history, emptiedAt } = splitAtLastDrop(rows.toSorted((one, other) => other.hoursAgo - one.hoursAgo))
  const [first, last] = [history[0], history.at(-1)]
  if (!first || !last || history.length < minHistoryPoints || first.hoursAgo - last.hoursAgo < minForecastHours) {
    return 'not enough history, less than 3 days since the last drop'
  }
  const { usedBytes, totalBytes } = last
  const known = { usedBytes, totalBytes, days: (first.hoursAgo - last.hoursAgo) / 24 }
  const long = fitGrowth(history)
  const isHabit = usedBytes <= emptiedAt * (1 + minDropShare) && emptiedAt < maxCleanupShare * totalBytes
  if (!long || long.score < minScore || isHabit) return { ...known, growth: null, trend: steadyTrend(fitDays(history)) }
  const short = fitGrowth(history.filter(({ hoursAgo }) => hoursAgo < shortFitHours))
  const rates = [long, ...(short && short.score >= minScore ? [short] : [])].map(({ perDay }) => perDay)
  const [slow, fast] = [Math.min(...rates), Math.max(...rates)]
  const free = totalBytes - usedBytes
  return {
    ...known,
    growth: { ...long, soonest: free / fast, latest: free / slow },
    trend: { slow, perDay: long.perDay, fast, spread: long.spread },
  }
}

/** Returns the confidence of a forecast by the length of its history in days. */
export const getForecastConfidence = (days: number): 'high' | 'medium' => (days >= muchHistoryDays ? 'high' : 'medium')

/** Returns the length of the history since the last drop, in hours. */
export const measureHistoryHours = (rows: readonly KnownRow[]): number => {
  const { history } = splitAtLastDrop(rows.toSorted((one, other) => other.hoursAgo - one.hoursAgo))
  return (history[0]?.hoursAgo ?? 0) - (history.at(-1)?.hoursAgo ?? 0)
}

/** Describes the forecast of a disk in words. */
export const describeForecast = (forecast: DiskForecast | string): string => {
  if (typeof forecast === 'string') return forecast
  const { growth } = forecast
  return growth ? `full in ${formatRange(growth.soonest, growth.latest)} days at this rate` : 'not filling up'
}

/** Returns the rows since the last drop, and the usage before that drop; 0 if there was none. */
const splitAtLastDrop = (rows: readonly KnownRow[]): { history: readonly KnownRow[]; emptiedAt: number } => {
  const begins = rows.findLastIndex(({ usedBytes }, index) => {
    const before = rows[index - 1]
    return before !== undefined && usedBytes < before.usedBytes * (1 - minDropShare)
  })
  return begins === -1
    ? { history: rows, emptiedAt: 0 }
    : { history: rows.slice(begins), emptiedAt: rows[begins - 1]?.usedBytes ?? 0 }
}

const fitDays = (rows: readonly KnownRow[]): Line | undefined =>
  fitLine(rows.map(({ hoursAgo, usedBytes }) => ({ x: -hoursAgo / 24, y: usedBytes })))

const fitGrowth = (rows: readonly KnownRow[]) => {
  const line = fitDays(rows)
  if (!line || line.slope <= 0) return undefined
  const days = ((rows[0]?.hoursAgo ?? 0) - (rows.at(-1)?.hoursAgo ?? 0)) / 24
  // The spread is at least one byte, because otherwise the score could be infinite.
  return { perDay: line.slope, spread: line.spread, score: (line.slope * days) / Math.max(1, line.spread) }
}

const minHours = 12
const fitHours = 24
const risingHours = 6

/** The forecast of the number of parts in the partition with the most parts. */
interface PartsForecast {
  parts: number
  /** Number of parts at which ClickHouse rejects inserts. */
  refusedAt: number
  /** Number of hours with data within the last day. */
  hours: number
  /** Null unless the number of parts rose in each of the last hours. */
  growth: { perHour: number; spread: number; hoursLeft: number } | null
  trend: Trend
}

/** Returns a forecast of parts by a linear fit over the last day, or the reason why there is none as a string. */
export const forecastParts = (rows: readonly InsightRow<'part-hours'>[]): PartsForecast | string => {
  const known = rows
    .flatMap(({ hoursAgo, parts, refusedAt }) =>
      parts === null || !refusedAt || hoursAgo < 0 || hoursAgo >= fitHours ? [] : { hoursAgo, parts, refusedAt },
    )
    .toSorted((one, other) => other.hoursAgo - one.hoursAgo)
  const last = known.at(-1)
  if (!last || known.length < minHours) return 'not enough history, fewer than 12 hours of the last day'
  const base = { parts: last.parts, refusedAt: last.refusedAt, hours: known.length }
  const latest = known.slice(-risingHours).map(({ parts }) => parts)
  const isRising = latest.every((parts, index) => index === 0 || parts > (latest[index - 1] ?? parts))
  const line = fitLine(known.map(({ hoursAgo, parts }) => ({ x: -hoursAgo, y: parts })))
  if (!isRising || !line || line.slope <= 0) {
    return { ...base, growth: null, trend: steadyTrend(line && { ...line, slope: line.slope * 24 }) }
  }
  const perDay = line.slope * 24
  const hoursLeft = Math.max(0, last.refusedAt - last.parts) / line.slope
  const growth = { perHour: line.slope, spread: line.spread, hoursLeft }
  return { ...base, growth, trend: { slow: perDay, perDay, fast: perDay, spread: line.spread } }
}

/** A linear fit with the spread of its residuals. */
interface Line {
  /** Per unit of x. */
  slope: number
  /** Standard deviation of the residuals. */
  spread: number
}

interface Point {
  x: number
  y: number
}

const minLinePoints = 3

/** Returns the least-squares line through points. Undefined for too few points or if all x values are equal. */
const fitLine = (points: readonly Point[]): Line | undefined => {
  if (points.length < minLinePoints) return undefined
  const x = computeMean(points.map((point) => point.x))
  const y = computeMean(points.map((point) => point.y))
  const width = sum(points.map((point) => (point.x - x) ** 2))
  if (width === 0) return undefined
  const slope = sum(points.map((point) => (point.x - x) * (point.y - y))) / width
  const left = sum(points.map((point) => (point.y - y - slope * (point.x - x)) ** 2))
  return { slope, spread: Math.sqrt(left / (points.length - 2)) }
}

const sum = (figures: readonly number[]): number => figures.reduce((total, figure) => total + figure, 0)
const computeMean = (figures: readonly number[]): number => sum(figures) / figures.length
