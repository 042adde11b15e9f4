import { z } from 'zod'
import { rpc } from './contract.ts'
import { maxExplainStatementLength } from './explain.ts'
import { hostInput } from './host.ts'
import { QueryId } from './query-detail.ts'

/** Kinds of advice, in ascending order of effort. */
export const adviceKinds = ['prewhere', 'skip-index', 'projection', 'materialized-view', 'partition-key'] as const
/** The kind of a recommendation. */
export const AdviceKind = z.enum(adviceKinds)
export type AdviceKind = z.infer<typeof AdviceKind>

/**
 * How the savings were determined. `verified`: by a test on data of the host. `estimated`: from counts of the host.
 * `unverified`: from experience with such changes.
 */
export const verificationLevels = ['verified', 'estimated', 'unverified'] as const
/** How the savings of a recommendation were determined. */
export const VerificationLevel = z.enum(verificationLevels)
export type VerificationLevel = z.infer<typeof VerificationLevel>

/**
 * Data that one execution reads from the table, before and after the change. Bytes are compressed sizes of the read
 * columns.
 */
export const Savings = z.object({
  marksBefore: z.number(),
  marksAfter: z.number(),
  bytesBefore: z.number(),
  bytesAfter: z.number(),
})
export type Savings = z.infer<typeof Savings>

/** A change that would make a query cheaper. */
export const Recommendation = z.object({
  kind: AdviceKind,
  title: z.string(),
  /** The table as `database.table`. */
  table: z.string(),
  rationale: z.string(),
  /** Statements for the operator to run; null if the recommendation is to change the query. */
  ddl: z.string().nullable(),
  /** The rewritten query; null if the recommendation is to change the table. */
  rewritten: z.string().nullable(),
  /** Whether `ddl` or `rewritten` contains values of the query. */
  includesValues: z.boolean(),
  proof: VerificationLevel,
  /** Data that the change would save; null if unknown. */
  savings: Savings.nullable(),
  risk: z.string(),
})
export type Recommendation = z.infer<typeof Recommendation>

/** Recommendations for the queries that a host runs. */
export const adviceMethods = {
  advise: rpc({
    doc: 'Returns ranked advice for one query, as SQL or by the id of a query in the log. Changes nothing. Rejects statements other than SELECT.',
    callers: ['gateway', 'agent', 'mcp'],
    feature: 'QUERIES',
    safe: true,
    prefer: 'hostKey',
    input: z
      .object({
        ...hostInput,
        query: z.string().max(maxExplainStatementLength).optional(),
        queryId: QueryId.optional(),
        /** The default database of `sql`. For a `queryId`, the query log contains it. */
        database: z.string().min(1).max(256).optional(),
      })
      .refine(({ query, queryId }) => (query === undefined) !== (queryId === undefined), {
        error: 'either query or queryId is required, but not both',
      }),
    output: z.object({
      recommendations: z.array(Recommendation),
      /** Why there are no recommendations, or why a table was skipped. */
      notes: z.array(z.string()),
    }),
  }),
}
