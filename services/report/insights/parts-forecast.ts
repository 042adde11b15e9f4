import type { InsightRow } from '#proto/insight-rows.ts'
import { fitLine } from './line.ts'

const leastHours = 12
const fitHours = 24
const risingHours = 6

/** How the parts of the fullest partition go on. */
export interface PartsForecast {
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
