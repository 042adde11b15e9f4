import type { AwaitedForecast, Forecast } from '#proto/forecasts.ts'
import type { InsightRow } from '#proto/insight-rows.ts'
import {
  confidenceOf,
  type DiskForecast,
  forecastDisk,
  historyHours,
  knownDiskHours,
  leastSpanHours,
  outlookOf,
  forecastParts,
} from '../measures/forecast.ts'
import { duration } from '../measures/words.ts'

/** What is foreseen, and what could not be. */
export interface Foreseen {
  forecasts: Forecast[]
  notes: string[]
  /** Disks that have too little history so far. */
  awaited: AwaitedForecast[]
}

/** Forecasts of every disk that has history enough. */
export const diskForecasts = (rows: readonly InsightRow<'disk-hours'>[]): Foreseen => {
  const known = knownDiskHours(rows)
  const told = [...Map.groupBy(known, ({ disk }) => disk)].map(([disk, hours]) => ({ disk, hours }))
  const outcomes = told.map(({ disk, hours }) => ({ disk, hours, forecast: forecastDisk(hours) }))
  return {
    forecasts: outcomes.flatMap(({ disk, hours, forecast }) =>
      typeof forecast === 'string' ? [] : diskForecast(disk, forecast, missedBy(hours, forecast.usedBytes)),
    ),
    notes:
      told.length === 0
        ? ['disks: the host tells no numbers']
        : outcomes.flatMap(({ disk, forecast }) => (typeof forecast === 'string' ? `disk ${disk}: ${forecast}` : [])),
    awaited: outcomes.flatMap(({ disk, hours, forecast }) =>
      typeof forecast === 'string' ? { subject: disk, hours: historyHours(hours), neededHours: leastSpanHours } : [],
    ),
  }
}

const diskForecast = (disk: string, forecast: DiskForecast, missed: number | null): Forecast => {
  const { usedBytes, totalBytes, days, growth } = forecast
  return {
    what: 'disk',
    subject: disk,
    unit: 'bytes',
    now: usedBytes,
    limit: totalBytes,
    perDay: growth?.perDay ?? null,
    spread: growth?.spread ?? null,
    days: growth && { soonest: growth.soonest, latest: growth.latest },
    missedBy: missed,
    historyDays: days,
    confidence: confidenceOf(days),
    outlook: outlookOf(forecast),
  }
}

const pastDays = 3

/** What the same forecast would have said three days ago of now, less what is now. */
const missedBy = (hours: ReturnType<typeof knownDiskHours>, usedBytes: number): number | null => {
  const past = hours
    .filter(({ hoursAgo }) => hoursAgo >= pastDays * 24)
    .map((row) => ({ ...row, hoursAgo: row.hoursAgo - pastDays * 24 }))
  const forecast = forecastDisk(past)
  if (typeof forecast === 'string') return null
  return forecast.usedBytes + pastDays * (forecast.growth?.perDay ?? 0) - usedBytes
}

/** When inserts are refused for too many parts. */
export const partsForecast = (rows: readonly InsightRow<'part-hours'>[]): Foreseen => {
  const forecast = forecastParts(rows)
  if (typeof forecast === 'string') return { forecasts: [], notes: [`parts: ${forecast}`], awaited: [] }
  const { parts, refusedAt, growth } = forecast
  const days = growth && growth.hoursLeft / 24
  return {
    notes: [],
    awaited: [],
    forecasts: [
      {
        what: 'parts',
        subject: '',
        unit: 'parts',
        now: parts,
        limit: refusedAt,
        perDay: growth && growth.perHour * 24,
        spread: growth?.spread ?? null,
        days: days === null ? null : { soonest: days, latest: days },
        missedBy: null,
        outlook: growth
          ? `inserts are refused in ${duration(growth.hoursLeft * 3_600)} if it goes on so`
          : 'does not rise from hour to hour',
      },
    ],
  }
}
