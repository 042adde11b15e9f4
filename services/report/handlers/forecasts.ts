import { z } from 'zod'
import type { Call } from '#proto/call.ts'
import type { Handlers, Service } from '#proto/contract.ts'
import type { forecastMethods } from '#proto/forecasts.ts'
import { type InsightRow, type InsightRowSet, insightRowSets } from '#proto/insight-rows.ts'
import { anomalyDetectors } from '../detectors/index.ts'
import { diskForecasts, type Foreseen, partsForecast } from '../insights/forecasts.ts'
import { lookAt } from '../insights/look-at.ts'
import type { InsightParts } from './insights.ts'

/** Looks at one host at once. */
export const forecastHandlers = ({ query, clock, store }: InsightParts): Handlers<Service<typeof forecastMethods>> => {
  const foresee = async <S extends InsightRowSet>(
    asked: { hostKey: string; set: S },
    call: Call,
    see: (rows: InsightRow<S>[]) => Foreseen,
  ): Promise<Foreseen> => {
    const { rows, unavailable } = await query.insightRows(asked, call)
    if (unavailable) return { forecasts: [], notes: [unavailable.message], awaited: [] }
    // Checked against the schema that the type of a row is made of.
    return see(z.array(insightRowSets[asked.set]).parse(rows) as InsightRow<S>[])
  }
  return {
    forecast: async ({ hostKey }, call) => {
      const disks = await foresee({ hostKey, set: 'disk-hours' }, call, diskForecasts)
      const parts = await foresee({ hostKey, set: 'part-hours' }, call, partsForecast)
      return {
        forecasts: [...disks.forecasts, ...parts.forecasts],
        notes: [...disks.notes, ...parts.notes],
        awaited: disks.awaited,
      }
    },
    anomalies: async ({ hostKey }, call) => {
      const looking = { query, store, call, hostKey, nowMs: clock.now(), detectors: anomalyDetectors }
      const { insights, notes } = await lookAt(looking)
      return { anomalies: insights, notes }
    },
  }
}
