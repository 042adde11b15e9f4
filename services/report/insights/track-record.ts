import { z } from 'zod'
import type { Forecast, ForecastRecord } from '#proto/forecasts.ts'

/** A forecast that was made for a time, with the interval that should contain the actual value. */
const DueForecast = z.object({
  /** Epoch milliseconds when the forecast was made, and for which it was made. */
  madeAtMs: z.number(),
  dueAtMs: z.number(),
  value: z.number(),
  low: z.number(),
  high: z.number(),
})
type DueForecast = z.infer<typeof DueForecast>

/** A forecast whose day has come. */
const ScoredForecast = DueForecast.extend({ actual: z.number() })
type ScoredForecast = z.infer<typeof ScoredForecast>

/** The forecasts of one resource, oldest first. */
export const TrackRecord = z.object({ waiting: z.array(DueForecast), scored: z.array(ScoredForecast) })
export type TrackRecord = z.infer<typeof TrackRecord>

export const emptyTrackRecord: TrackRecord = { waiting: [], scored: [] }

const dayMs = 86_400_000
/** Scored forecasts are kept for this time. */
const keptMs = 90 * dayMs
/** Forecasts whose actual value is still unknown after this time are dropped, because no history reaches further. */
const maxOverdueMs = 14 * dayMs

/** Adds the projections of a forecast to a record. */
export const addForecast = (record: TrackRecord, { projections = [] }: Forecast, nowMs: number): TrackRecord => ({
  ...record,
  waiting: [
    ...record.waiting,
    ...projections.map(({ days, value, low, high }) => ({
      madeAtMs: nowMs,
      dueAtMs: nowMs + days * dayMs,
      value,
      low,
      high,
    })),
  ],
})

/**
 * Scores the forecasts whose time has come. `readActual` returns the value at a time, or undefined if it is unknown;
 * such a forecast waits until no history can contain its time any more.
 */
export const scoreForecasts = (
  record: TrackRecord,
  readActual: (atMs: number) => number | undefined,
  nowMs: number,
): TrackRecord => {
  const scored: ScoredForecast[] = []
  const waiting = record.waiting.filter((forecast) => {
    if (forecast.dueAtMs > nowMs) return true
    const actual = readActual(forecast.dueAtMs)
    if (actual !== undefined) scored.push({ ...forecast, actual })
    return actual === undefined && nowMs - forecast.dueAtMs < maxOverdueMs
  })
  return { waiting, scored: [...record.scored, ...scored].filter(({ dueAtMs }) => nowMs - dueAtMs < keptMs) }
}

/** Fewer scored forecasts do not show whether a forecast is poor. */
const minScored = 5
const maxMape = 0.1
/** The interval is made for 90 %. */
const minCoverage = 0.7

const formatShare = (share: number): string => `${Math.round(share * 1_000) / 10} %`

/** Returns the mean absolute error as a share of the actual values. An actual value of 0 counts as an error of 100 %. */
const computeMape = (scored: readonly ScoredForecast[]): number =>
  mean(
    scored.map(({ value, actual }) => {
      if (value === actual) return 0
      return actual === 0 ? 1 : Math.abs(value - actual) / Math.abs(actual)
    }),
  )

const computeCoverage = (scored: readonly ScoredForecast[]): number =>
  mean(scored.map(({ low, high, actual }) => (actual >= low && actual <= high ? 1 : 0)))

const mean = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0) / values.length

/** Returns how good the forecasts of a record were. */
export const summarizeRecord = ({ scored, waiting }: TrackRecord): ForecastRecord => {
  const counts = { scored: scored.length, waiting: waiting.length }
  if (scored.length === 0) {
    const summary =
      waiting.length === 0
        ? 'no track record yet: no forecast is stored'
        : `no track record yet: ${waiting.length} stored ${waiting.length === 1 ? 'forecast has' : 'forecasts have'} not reached their day`
    return { ...counts, mape: null, coverage: null, isPoor: false, summary }
  }
  const [mape, coverage] = [computeMape(scored), computeCoverage(scored)]
  const figures = `${scored.length} scored ${scored.length === 1 ? 'forecast' : 'forecasts'}: mean error ${formatShare(mape)}, ${formatShare(coverage)} within the interval`
  if (scored.length < minScored) {
    return { ...counts, mape, coverage, isPoor: false, summary: `${figures}; too few for a conclusion` }
  }
  const reasons = [
    ...(mape > maxMape ? [`the mean error is above ${formatShare(maxMape)}`] : []),
    ...(coverage < minCoverage
      ? [`fewer than ${formatShare(minCoverage)} of the actual values are within the interval, which is made for 90 %`]
      : []),
  ]
  const isPoor = reasons.length > 0
  return {
    ...counts,
    mape,
    coverage,
    isPoor,
    summary: isPoor ? `unreliable, ${reasons.join(', and ')} (${figures})` : figures,
  }
}
