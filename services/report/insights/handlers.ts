import { z } from 'zod'
import type { Call } from '#proto/call.ts'
import type { Handlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { forecastMethods } from '#proto/forecasts.ts'
import { type InsightRow, type InsightRowSet, insightRowSets } from '#proto/insight-rows.ts'
import type { insightMethods } from '#proto/insights.ts'
import { detectors, anomalyDetectors } from '../detectors/index.ts'
import type { Parts } from '../work.ts'
import { diskForecasts, type Foreseen, partsForecast } from './forecasts.ts'
import { generate, type Generating } from './generate.ts'
import { lookAt } from './look-at.ts'
import { lastRun } from './runs.ts'

/** What the handlers about insights work with. */
export type InsightParts = Parts & Generating

const hourMs = 3_600_000
/** The answer has to be on its way before its caller stops listening. */
const marginMs = 2_000
/** More of one host than anybody would look through. */
const mostListed = 500

/** Lists insights, says where they are kept, looks for new ones, and dismisses them. */
export const insightHandlers = (parts: InsightParts): Handlers<Service<typeof insightMethods>> => {
  const { kept, clock } = parts
  return {
    generateInsights: (asked, call) => generate(parts, asked, { ...call, deadline: call.deadline - marginMs }),
    insightBackend: async () => ({ backend: kept.store.backend }),
    insightStatus: async ({ hostKey }) => ({
      backend: kept.store.backend,
      reason: kept.reason,
      detectors: detectors.map(({ kind }) => kind),
      lastRun: await lastRun(parts.store, hostKey),
    }),
    insights: async ({ hostKey, lastHours, severity, dismissed, limit }, call) => {
      const sinceMs = clock.now() - lastHours * hourMs
      const found = await kept.store.list({ hostKey, sinceMs, limit: mostListed }, call)
      return found
        .filter((insight) => dismissed || insight.dismissed === null)
        .filter((insight) => severity === undefined || insight.severity === severity)
        .slice(0, limit)
    },
    dismissInsight: async ({ hostKey, id, dismissed }, call) => {
      const [insight] = await kept.store.list({ hostKey, sinceMs: 0, limit: 1, ids: [id] }, call)
      if (!insight) throw new ServiceError('not-found', 'no such insight on this host; it may have been removed as old')
      const atMs = clock.now()
      const changed = { ...insight, dismissed: dismissed ? { by: call.identity.subject, atMs } : null }
      await kept.store.put(hostKey, [changed], atMs, call)
      return changed
    },
  }
}

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
