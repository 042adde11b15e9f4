import { z } from 'zod'

/** What `EXPLAIN` shows of a statement. `analyze` executes it, within the limits, and needs a server of 26.7 or later. */
export const explainModes = ['plan', 'pipeline', 'ast', 'syntax', 'query-tree', 'estimate', 'analyze'] as const
/** What `EXPLAIN` may tell of a statement. */
export const ExplainMode = z.enum(explainModes)
export type ExplainMode = z.infer<typeof ExplainMode>

/** Longest statement that is explained, in characters. */
export const longestExplained = 100_000

/** Settings of the mode, as `EXPLAIN` itself names them; true and false stand for 1 and 0. */
export const ExplainSettings = z
  .record(z.string().max(64), z.union([z.boolean(), z.int().min(0).max(1_000)], 'must be 0, 1, true or false'))
  .refine((settings) => Object.keys(settings).length <= 20, 'at most 20 settings')
export type ExplainSettings = z.infer<typeof ExplainSettings>

/** One node of an explanation. `details` is what else the host says of it: indexes, keys, headers, actions, processors. */
export interface ExplainNode {
  name: string
  description: string | null
  details: Record<string, unknown>
  children: ExplainNode[]
}
/** The same as a schema. */
export const ExplainNode: z.ZodType<ExplainNode, ExplainNode> = z.lazy(() =>
  z.object({
    name: z.string(),
    description: z.string().nullable(),
    details: z.record(z.string(), z.unknown()),
    children: z.array(ExplainNode),
  }),
)

/** What a statement would read of one table. */
export const ReadEstimate = z.object({
  database: z.string(),
  table: z.string(),
  parts: z.number(),
  rows: z.number(),
  marks: z.number(),
})

/** An explanation as text and, where it has that shape, as a tree. */
export const Explanation = z.object({
  mode: ExplainMode,
  /** The statement that was explained: the caller's without a FORMAT clause. */
  query: z.string(),
  /** As the host wrote it; null for `estimate`. */
  text: z.string().nullable(),
  /** Null for `syntax`, `estimate`, graphs, and explanations nested too deeply to be drawn. */
  tree: z.array(ExplainNode).nullable(),
  /** With `estimate` only. */
  estimates: z.array(ReadEstimate).nullable(),
})
export type Explanation = z.infer<typeof Explanation>
