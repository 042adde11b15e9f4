import type { Call } from '#proto/call.ts'
import { type Insight, type InsightBackend, StoredInsight } from '#proto/insights.ts'
import { type Collections, defineCollection, memoryCollections } from '#shared/store/collection/collection.ts'

/** Which insights are wanted, the newest first. */
export interface InsightFilter {
  hostKey: string
  sinceMs: number
  limit: number
  /** Only these. */
  ids?: readonly string[] | undefined
}

/** Where insights are kept. One id is one insight: what is put later replaces it, dismissal and all. */
export interface InsightStore {
  readonly backend: InsightBackend
  list(filter: InsightFilter, call: Call): Promise<Insight[]>
  /** All of one host; `version` grows with every writing. */
  put(hostKey: string, insights: readonly Insight[], version: number, call: Call): Promise<void>
  /** Removes those found before; says how many. */
  prune(beforeMs: number, call: Call): Promise<number>
}

/** Insights in a database or in memory; others may write into the table too. */
export const insightCollection = defineCollection({
  name: 'insights_findings',
  schema: StoredInsight,
  columns: { hostKey: 'text', foundAtMs: 'integer' },
  indexes: [['hostKey', 'foundAtMs']],
  idOf: ({ id }) => id,
  valuesOf: (insight) => insight,
})

const backends = { memory: 'memory', sqlite: 'edgesql', postgres: 'postgres' } as const

/** The store of insights upon a collection. */
export const collectedInsights = (collections: Collections): InsightStore => {
  const kept = collections.of(insightCollection)
  return {
    backend: backends[collections.kind],
    list: ({ hostKey, sinceMs, limit, ids }) =>
      kept.list({
        where: { hostKey, foundAtMs: { from: sinceMs }, id: ids },
        orderBy: 'foundAtMs',
        descending: true,
        limit,
      }),
    put: (_hostKey, insights) => kept.put(insights),
    prune: (beforeMs) => kept.remove({ foundAtMs: { before: beforeMs } }),
  }
}

/** Kept by this process alone; a restart forgets it. */
export const memoryStore = (): InsightStore => collectedInsights(memoryCollections())
