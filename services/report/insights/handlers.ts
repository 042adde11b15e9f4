import type { ServiceHandlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { forecastMethods } from '#proto/forecasts.ts'
import type { Insight, insightMethods } from '#proto/insights.ts'
import { detectors, anomalyDetectors } from '../detectors/index.ts'
import type { ReportServiceDeps } from '../background-tasks.ts'
import { withRecords } from './forecast-records.ts'
import { readForecasts } from './read-forecasts.ts'
import { runInsightScan, type InsightScanDeps } from './insight-scan.ts'
import { scanHost } from './scan-host.ts'
import { withCurrentAges } from './with-current-ages.ts'
import { readLastRun } from './scan-runs.ts'

/** The dependencies of the insight and forecast handlers. */
export type InsightDeps = ReportServiceDeps & InsightScanDeps

const hourMs = 3_600_000
/** Time before the deadline of the caller that is reserved for sending the response, in milliseconds. */
const marginMs = 2_000
const maxListed = 500

/** Returns the handlers that list, generate and dismiss insights. */
export const createInsightHandlers = (deps: InsightDeps): ServiceHandlers<Service<typeof insightMethods>> => {
  const { insightStore, clock } = deps
  const show = (insight: Insight) => withCurrentAges(insight, clock.now())
  return {
    generateInsights: async (input, call) => {
      const result = await runInsightScan(deps, input, { ...call, deadline: call.deadline - marginMs })
      return { ...result, insights: result.insights.map(show) }
    },
    insightBackend: async () => ({ backend: insightStore.store.backend }),
    insightStatus: async ({ hostKey }) => ({
      backend: insightStore.store.backend,
      reason: insightStore.reason,
      detectors: detectors.map(({ kind }) => kind),
      lastRun: await readLastRun(deps.store, hostKey),
    }),
    insights: async ({ hostKey, lastHours, severity, dismissed, limit }, call) => {
      const sinceMs = clock.now() - lastHours * hourMs
      const found = await insightStore.store.list({ hostKey, sinceMs, limit: maxListed }, call)
      return found
        .filter((insight) => dismissed || insight.dismissed === null)
        .filter((insight) => severity === undefined || insight.severity === severity)
        .slice(0, limit)
        .map(show)
    },
    dismissInsight: async ({ hostKey, id, dismissed }, call) => {
      const [insight] = await insightStore.store.list({ hostKey, sinceMs: 0, limit: 1, ids: [id] }, call)
      if (!insight) throw new ServiceError('not-found', 'insight not found on this host; it may have expired')
      const atMs = clock.now()
      const changed = { ...insight, dismissed: dismissed ? { by: call.identity.subject, atMs } : null }
      await insightStore.store.put(hostKey, [changed], atMs, call)
      return show(changed)
    },
  }
}

/** Returns the handlers that compute forecasts and anomalies of a host on request. */
export const createForecastHandlers = ({
  query,
  clock,
  store,
}: InsightDeps): ServiceHandlers<Service<typeof forecastMethods>> => ({
  forecast: async ({ hostKey }, call) => {
    const { forecasts, notes, awaited } = await readForecasts({ query }, hostKey, call)
    return { forecasts: await withRecords(store, hostKey, forecasts), notes, awaited }
  },
  anomalies: async ({ hostKey }, call) => {
    const context = { query, store, call, hostKey, nowMs: clock.now(), detectors: anomalyDetectors }
    const { insights, notes } = await scanHost(context)
    return { anomalies: insights.map((insight) => withCurrentAges(insight, clock.now())), notes }
  },
})
