import type { PendingForecast, Forecast } from '#proto/forecasts.ts'
import type { InsightRow } from '#proto/insight-rows.ts'
import {
  getForecastConfidence,
  type DiskForecast,
  forecastDisk,
  measureHistoryHours,
  selectKnownDiskHours,
  minForecastHours,
  describeForecast,
  forecastParts,
  projectTrend,
} from '../detection/forecast.ts'
import { formatSeconds } from '../format.ts'

/** Forecasts, and notes that explain missing ones. */
export interface ForecastResult {
  forecasts: Forecast[]
  notes: string[]
  /** Disks that do not have enough history for a forecast yet. */
  awaited: PendingForecast[]
}

/** Returns the forecasts of all disks with enough history. */
export const forecastDisks = (rows: readonly InsightRow<'disk-hours'>[]): ForecastResult => {
  const known = selectKnownDiskHours(rows)
  const disks = [...Map.groupBy(known, ({ disk }) => disk)].map(([disk, hours]) => ({ disk, hours }))
  const outcomes = disks.map(({ disk, hours }) => ({ disk, hours, forecast: forecastDisk(hours) }))
  return {
    forecasts: outcomes.flatMap(({ disk, hours, forecast }) =>
      typeof forecast === 'string'
        ? []
        : toDiskForecast(disk, forecast, computeForecastError(hours, forecast.usedBytes)),
    ),
    notes:
      disks.length === 0
        ? ['disks: not reported by this host']
        : outcomes.flatMap(({ disk, forecast }) => (typeof forecast === 'string' ? `disk ${disk}: ${forecast}` : [])),
    awaited: outcomes.flatMap(({ disk, hours, forecast }) =>
      typeof forecast === 'string'
        ? { subject: disk, hours: measureHistoryHours(hours), neededHours: minForecastHours }
        : [],
    ),
  }
}

/** Days after which the forecasts of disks and of parts are scored. */
const diskHorizons = [1, 7]
const partHorizons = [1]

const toDiskForecast = (disk: string, forecast: DiskForecast, error: number | null): Forecast => {
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
    forecastError: error,
    historyDays: days,
    confidence: getForecastConfidence(days),
    summary: describeForecast(forecast),
    projections: diskHorizons.map((horizon) => projectTrend(usedBytes, totalBytes, forecast.trend, horizon)),
  }
}

const errorCheckDays = 3

/** Repeats the forecast of three days ago. Returns predicted minus actual usage in bytes; null if there was none. */
const computeForecastError = (hours: ReturnType<typeof selectKnownDiskHours>, usedBytes: number): number | null => {
  const past = hours
    .filter(({ hoursAgo }) => hoursAgo >= errorCheckDays * 24)
    .map((row) => ({ ...row, hoursAgo: row.hoursAgo - errorCheckDays * 24 }))
  const forecast = forecastDisk(past)
  if (typeof forecast === 'string') return null
  return forecast.usedBytes + errorCheckDays * (forecast.growth?.perDay ?? 0) - usedBytes
}

/** Returns the forecast of when ClickHouse rejects inserts because of too many parts. */
export const forecastPartCount = (rows: readonly InsightRow<'part-hours'>[]): ForecastResult => {
  const forecast = forecastParts(rows)
  if (typeof forecast === 'string') return { forecasts: [], notes: [`parts: ${forecast}`], awaited: [] }
  const { parts, refusedAt, growth, trend } = forecast
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
        forecastError: null,
        summary: growth
          ? `inserts are rejected in ${formatSeconds(growth.hoursLeft * 3_600)} at this rate`
          : 'not increasing from hour to hour',
        projections: partHorizons.map((horizon) => projectTrend(parts, refusedAt, trend, horizon)),
      },
    ],
  }
}
