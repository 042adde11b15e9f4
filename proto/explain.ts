import { z } from 'zod'

/** The variants of `EXPLAIN`. `analyze` executes the statement within the limits and requires server 26.7 or later. */
export const explainModes = ['plan', 'pipeline', 'ast', 'syntax', 'query-tree', 'estimate', 'analyze'] as const
/** A variant of `EXPLAIN`. */
export const ExplainMode = z.enum(explainModes)
export type ExplainMode = z.infer<typeof ExplainMode>

/** Maximum length of an explained statement in characters. */
export const maxExplainStatementLength = 100_000

/** Settings of the `EXPLAIN` variant; true and false mean 1 and 0. */
export const ExplainSettings = z
  .record(z.string().max(64), z.union([z.boolean(), z.int().min(0).max(1_000)], 'must be 0, 1, true or false'))
  .refine((settings) => Object.keys(settings).length <= 20, 'must have at most 20 settings')
export type ExplainSettings = z.infer<typeof ExplainSettings>

/** A node of an `EXPLAIN` tree. `details` contains its other fields: indexes, keys, headers, actions, processors. */
export interface ExplainNode {
  name: string
  description: string | null
  details: Record<string, unknown>
  children: ExplainNode[]
}
/** The schema of `ExplainNode`. */
export const ExplainNode: z.ZodType<ExplainNode, ExplainNode> = z.lazy(() =>
  z.object({
    name: z.string(),
    description: z.string().nullable(),
    details: z.record(z.string(), z.unknown()),
    children: z.array(ExplainNode),
  }),
)

/** An estimate of what a statement reads from one table. */
export const ReadEstimate = z.object({
  database: z.string(),
  table: z.string(),
  parts: z.number(),
  rows: z.number(),
  marks: z.number(),
})

/** The result of `EXPLAIN` as text and, for some variants, as a tree. */
export const Explanation = z.object({
  mode: ExplainMode,
  /** The statement of the caller without its FORMAT and SETTINGS clauses. */
  query: z.string(),
  /** The output of the host as text; null for `estimate`. */
  text: z.string().nullable(),
  /** The output as a tree; null for `syntax`, `estimate`, graphs, and trees that are nested too deeply. */
  tree: z.array(ExplainNode).nullable(),
  /** Estimates by table; null unless the mode is `estimate`. */
  estimates: z.array(ReadEstimate).nullable(),
  /**
   * The settings of the SETTINGS clauses: those that apply to the plan, and the names of all others, which do not
   * change a plan or would exceed the limits. Undefined without such a clause.
   */
  statementSettings: z.object({ applied: z.record(z.string(), z.string()), ignored: z.array(z.string()) }).optional(),
})
export type Explanation = z.infer<typeof Explanation>
