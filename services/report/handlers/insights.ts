import type { Handlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { insightMethods } from '#proto/insights.ts'
import { detectors } from '../detectors/index.ts'
import { generate, type Generating } from '../insights/generate.ts'
import { lastRun } from '../insights/runs.ts'
import type { Parts } from './index.ts'

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
