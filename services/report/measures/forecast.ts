import type { InsightRow } from '#proto/insight-rows.ts'
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

const leastHours = 12
const fitHours = 24
const risingHours = 6

/** How the parts of the fullest partition go on. */
interface PartsForecast {
  parts: number
  /** At which inserts are refused. */
  refusedAt: number
  /** How many hours of the last day are told. */
  hours: number
  /** Null unless they rose from hour to hour lately. */
  growth: { perHour: number; spread: number; hoursLeft: number } | null
}

/** By a line through the last day, or in words why nothing can be told. */
export const forecastParts = (rows: readonly InsightRow<'part-hours'>[]): PartsForecast | string => {
  const told = rows
    .flatMap(({ hoursAgo, parts, refusedAt }) =>
      parts === null || !refusedAt || hoursAgo < 0 || hoursAgo >= fitHours ? [] : { hoursAgo, parts, refusedAt },
    )
    .toSorted((one, other) => other.hoursAgo - one.hoursAgo)
  const last = told.at(-1)
  if (!last || told.length < leastHours) return 'not enough history, fewer than 12 hours of the last day'
  const known = { parts: last.parts, refusedAt: last.refusedAt, hours: told.length }
  const latest = told.slice(-risingHours).map(({ parts }) => parts)
  const isRising = latest.every((parts, index) => index === 0 || parts > (latest[index - 1] ?? parts))
  const line = fitLine(told.map(({ hoursAgo, parts }) => ({ x: -hoursAgo, y: parts })))
  if (!isRising || !line || line.slope <= 0) return { ...known, growth: null }
  const hoursLeft = Math.max(0, last.refusedAt - last.parts) / line.slope
  return { ...known, growth: { perHour: line.slope, spread: line.spread, hoursLeft } }
}

/** A straight line through points, and how well they lie on it. */
interface Line {
  /** Per unit of x. */
  slope: number
  /** Standard deviation of what is left beside the line. */
  spread: number
}

interface Point {
  x: number
  y: number
}

const fewestPoints = 3

/** The line of least squares; undefined of too few points, or when they are all of one x. */
const fitLine = (points: readonly Point[]): Line | undefined => {
  if (points.length < fewestPoints) return undefined
  const x = mean(points.map((point) => point.x))
  const y = mean(points.map((point) => point.y))
  const width = sum(points.map((point) => (point.x - x) ** 2))
  if (width === 0) return undefined
  const slope = sum(points.map((point) => (point.x - x) * (point.y - y))) / width
  const left = sum(points.map((point) => (point.y - y - slope * (point.x - x)) ** 2))
  return { slope, spread: Math.sqrt(left / (points.length - 2)) }
}

const sum = (figures: readonly number[]): number => figures.reduce((total, figure) => total + figure, 0)
const mean = (figures: readonly number[]): number => sum(figures) / figures.length
