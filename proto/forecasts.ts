import { z } from 'zod'
import { rpc } from './contract.ts'
import { ofHost } from './host.ts'
import { Insight, insightConfidences } from './insights.ts'

/** How something that can be full goes on, by straight lines through its history. */
export const Forecast = z.object({
  what: z.enum(['disk', 'parts']),
  /** Name of the disk; empty where it is about the host. */
  subject: z.string(),
  unit: z.enum(['bytes', 'parts']),
  now: z.number(),
  /** At which a disk is full, or inserts are refused. */
  limit: z.number(),
  /** Null where it does not grow by more than it scatters. */
  perDay: z.number().nullable(),
  /** Standard deviation beside the line, in the same unit. */
  spread: z.number().nullable(),
  /** Days until the limit, by the faster and the slower of the lines. */
  days: z.object({ soonest: z.number(), latest: z.number() }).nullable(),
  /** By how much the forecast of three days ago misses what is now, in the same unit; null where there was none. */
  missedBy: z.number().nullable(),
  /** How much history it rests on, and how sure it is for that; absent where neither is told. */
  historyDays: z.number().optional(),
  confidence: z.enum(insightConfidences).optional(),
  outlook: z.string(),
})
export type Forecast = z.infer<typeof Forecast>

/** A disk of which nothing can be foreseen yet: the history that there is since its last drop, and what it takes. */
export const AwaitedForecast = z.object({ subject: z.string(), hours: z.number(), neededHours: z.number() })
export type AwaitedForecast = z.infer<typeof AwaitedForecast>

const common = { callers: ['gateway', 'agent'], feature: 'INSIGHTS', safe: true, prefer: 'hostKey' } as const
/** What could not be told, and why. */
const notes = z.array(z.string())

/** Methods of `report` that look at one host at once, and keep nothing. */
export const forecastMethods = {
  forecast: rpc({
    ...common,
    doc: 'When the disks of one host are full, and when it refuses inserts for too many parts, as ranges.',
    input: z.object(ofHost),
    output: z.object({ forecasts: z.array(Forecast), notes, awaited: z.array(AwaitedForecast).default([]) }),
  }),
  anomalies: rpc({
    ...common,
    doc: 'What is not as usual on one host now: failures, duration, memory, new codes and patterns, slower patterns, inserts that stopped.',
    input: z.object(ofHost),
    output: z.object({ anomalies: z.array(Insight), notes }),
  }),
}
