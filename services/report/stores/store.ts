import type { Call } from '#proto/call.ts'
import type { Insight, InsightBackend } from '#proto/insights.ts'

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
