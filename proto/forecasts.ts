import { z } from 'zod'
import { rpc } from './contract.ts'
import { hostInput } from './host.ts'
import { Insight, insightConfidences } from './insights.ts'

/** The expected value after a number of days, with the interval that should contain it in 90 % of all cases. */
export const ForecastProjection = z.object({
  days: z.number(),
  value: z.number(),
  low: z.number(),
  high: z.number(),
})
export type ForecastProjection = z.infer<typeof ForecastProjection>

/** How good the earlier forecasts of a resource were, of the last 90 days. */
export const ForecastRecord = z.object({
  /** Number of forecasts whose day has come, and of those that wait for theirs. */
  scored: z.int().min(0),
  waiting: z.int().min(0),
  /** Mean absolute error as a share of the actual value; null without a scored forecast. */
  mape: z.number().nullable(),
  /** Share of actual values within the interval; null without a scored forecast. */
  coverage: z.number().nullable(),
  /** Whether the forecasts were too wrong to rely on. `summary` states the reason. */
  isPoor: z.boolean(),
  summary: z.string(),
})
export type ForecastRecord = z.infer<typeof ForecastRecord>

/** The forecast of the usage of a resource, computed with linear fits of its history. */
export const Forecast = z.object({
  what: z.enum(['disk', 'parts']),
  /** Name of the disk; empty for the whole host. */
  subject: z.string(),
  unit: z.enum(['bytes', 'parts']),
  now: z.number(),
  /** The value at which a disk is full or inserts are rejected. */
  limit: z.number(),
  /** Growth per day; null if it is not significant. */
  perDay: z.number().nullable(),
  /** Standard deviation of the residuals, in the same unit. */
  spread: z.number().nullable(),
  /** Days until the limit, according to the faster and the slower of the two fits. */
  days: z.object({ soonest: z.number(), latest: z.number() }).nullable(),
  /** Error of the forecast of three days ago, in the same unit; null if there was none. */
  forecastError: z.number().nullable(),
  /** The length of the history in days, and the resulting confidence; absent if unknown. */
  historyDays: z.number().optional(),
  confidence: z.enum(insightConfidences).optional(),
  summary: z.string(),
  /** Values after fixed numbers of days. Each is stored once a day, and scored when its day comes. */
  projections: z.array(ForecastProjection).optional(),
  /** How good earlier forecasts were; absent if the store of the records is unavailable. */
  record: ForecastRecord.optional(),
})
export type Forecast = z.infer<typeof Forecast>

/** A disk with too little history for a forecast: hours since its usage last dropped, and hours required. */
export const PendingForecast = z.object({ subject: z.string(), hours: z.number(), neededHours: z.number() })
export type PendingForecast = z.infer<typeof PendingForecast>

const common = { callers: ['gateway', 'agent'], feature: 'INSIGHTS', safe: true, prefer: 'hostKey' } as const
/** Why forecasts or anomalies have no data. */
const notes = z.array(z.string())

/** Methods of `report` that analyze one host on request without storing results. */
export const forecastMethods = {
  forecast: rpc({
    ...common,
    doc: 'Forecasts when the disks of one host are full, and when inserts fail with too many parts, as ranges.',
    input: z.object(hostInput),
    output: z.object({ forecasts: z.array(Forecast), notes, awaited: z.array(PendingForecast).default([]) }),
  }),
  anomalies: rpc({
    ...common,
    doc: 'Returns the current anomalies of one host: failures, duration, memory, new error codes and patterns, slower patterns, stopped inserts.',
    input: z.object(hostInput),
    output: z.object({ anomalies: z.array(Insight), notes }),
  }),
}
