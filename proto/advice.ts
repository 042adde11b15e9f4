import { z } from 'zod'
import { rpc } from './contract.ts'
import { longestExplained } from './explain.ts'
import { ofHost } from './host.ts'
import { QueryId } from './query-detail.ts'

/** What can be advised, that of the least effort first. */
export const adviceKinds = ['prewhere', 'skip-index', 'projection', 'materialized-view', 'partition-key'] as const
/** One of `adviceKinds`. */
export const AdviceKind = z.enum(adviceKinds)
export type AdviceKind = z.infer<typeof AdviceKind>

/**
 * How sure the savings are: `verified` was tried out by the host on its data, `estimated` is computed from what the host
 * counted, `unverified` is what such a change usually does.
 */
export const proofs = ['verified', 'estimated', 'unverified'] as const
/** One of `proofs`. */
export const Proof = z.enum(proofs)
export type Proof = z.infer<typeof Proof>

/** What one execution reads of the table, before and after; bytes are of the compressed columns that the statement reads. */
export const Savings = z.object({
  marksBefore: z.number(),
  marksAfter: z.number(),
  bytesBefore: z.number(),
  bytesAfter: z.number(),
})
export type Savings = z.infer<typeof Savings>

/** One change that would make a statement cheaper. */
export const Recommendation = z.object({
  kind: AdviceKind,
  title: z.string(),
  /** `database.table`. */
  table: z.string(),
  rationale: z.string(),
  /** Statements an operator would run; null when the statement itself would change. */
  ddl: z.string().nullable(),
  /** The statement as it would be written; null when the table would change. */
  rewritten: z.string().nullable(),
  /** Whether `ddl` or `rewritten` has values in it that the statement gives. */
  tellsValues: z.boolean(),
  proof: Proof,
  /** Null when nothing could be computed. */
  savings: Savings.nullable(),
  risk: z.string(),
})
export type Recommendation = z.infer<typeof Recommendation>

/** Advice on what hosts are asked. */
export const adviceMethods = {
  advise: rpc({
    doc: 'Ranked advice for one statement, given as SQL or by the id of a query in the log. Nothing is changed. A statement that is no SELECT is refused.',
    callers: ['gateway', 'agent', 'mcp'],
    feature: 'QUERIES',
    safe: true,
    prefer: 'hostKey',
    input: z
      .object({
        ...ofHost,
        query: z.string().max(longestExplained).optional(),
        queryId: QueryId.optional(),
        /** Where names without a database are looked up; for a `queryId` it is in the log. */
        database: z.string().min(1).max(256).optional(),
      })
      .refine(({ query, queryId }) => (query === undefined) !== (queryId === undefined), {
        error: 'needs either a statement or a queryId, and not both',
      }),
    output: z.object({
      recommendations: z.array(Recommendation),
      /** Why nothing is advised, or not on some table. */
      notes: z.array(z.string()),
    }),
  }),
}
