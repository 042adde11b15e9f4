import type { CallContext } from '#proto/call.ts'
import { type Insight, type InsightBackend, StoredInsight } from '#proto/insights.ts'
import { type Collections, defineCollection, createMemoryCollections } from '#shared/store/collection/collection.ts'

/** Criteria for a list of insights of one host. */
export interface InsightFilter {
  hostKey: string
  sinceMs: number
  limit: number
  /** If set, only insights with these ids. */
  ids?: readonly string[] | undefined
}

/** Stores insights by id. A later `put` replaces an insight, including its dismissal. */
export interface InsightStore {
  readonly backend: InsightBackend
  list(filter: InsightFilter, call: CallContext): Promise<Insight[]>
  /** Stores insights of one host. `version` must increase with every write. */
  put(hostKey: string, insights: readonly Insight[], version: number, call: CallContext): Promise<void>
  /** Removes insights found before a time and returns their number. */
  prune(beforeMs: number, call: CallContext): Promise<number>
}

/** The collection of insights. Other applications may also write to its table. */
export const insightCollection = defineCollection({
  name: 'insights_findings',
  schema: StoredInsight,
  columns: { hostKey: 'text', foundAtMs: 'integer' },
  indexes: [['hostKey', 'foundAtMs']],
  idOf: ({ id }) => id,
  valuesOf: (insight) => insight,
})

const backendByDialect = { memory: 'memory', sqlite: 'edgesql', postgres: 'postgres' } as const

/** Returns an insight store that uses a collection. */
export const createCollectionInsightStore = (collections: Collections): InsightStore => {
  const insights = collections.of(insightCollection)
  return {
    backend: backendByDialect[collections.kind],
    list: ({ hostKey, sinceMs, limit, ids }) =>
      insights.list({
        where: { hostKey, foundAtMs: { from: sinceMs }, id: ids },
        orderBy: 'foundAtMs',
        descending: true,
        limit,
      }),
    put: (_hostKey, changed) => insights.put(changed),
    prune: (beforeMs) => insights.remove({ foundAtMs: { before: beforeMs } }),
  }
}

/** Returns an insight store in the memory of this process; a restart loses the insights. */
export const createMemoryInsightStore = (): InsightStore => createCollectionInsightStore(createMemoryCollections())
