import type { Insight } from '#proto/insights.ts'
import type { InsightStore } from './store.ts'

const mostInsights = 10_000

/** Kept by this process alone; a restart forgets it. */
export const memoryStore = (): InsightStore => {
  const insights = new Map<string, Insight>()
  return {
    backend: 'memory',
    async list({ hostKey, sinceMs, limit, ids }) {
      const wanted = [...insights.values()].filter(
        (insight) =>
          insight.hostKey === hostKey &&
          insight.foundAtMs >= sinceMs &&
          (ids === undefined || ids.includes(insight.id)),
      )
      return structuredClone(wanted.toSorted(newestFirst).slice(0, limit))
    },
    async put(_hostKey, given) {
      for (const insight of given) {
        // Written anew it is the youngest, and goes last when there is no room.
        insights.delete(insight.id)
        insights.set(insight.id, structuredClone(insight))
      }
      for (const id of insights.keys()) {
        if (insights.size <= mostInsights) return
        insights.delete(id)
      }
    },
    async prune(beforeMs) {
      const old = [...insights.values()].filter(({ foundAtMs }) => foundAtMs < beforeMs)
      for (const { id } of old) insights.delete(id)
      return old.length
    },
  }
}

const newestFirst = (one: Insight, other: Insight): number =>
  other.foundAtMs - one.foundAtMs || (one.id < other.id ? -1 : 1)
