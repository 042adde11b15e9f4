import { z } from 'zod'
import { rpc } from './contract.ts'
import { ofHost } from './host.ts'
import { QueryId } from './query-detail.ts'

/** Name of a database, table, user or role: any text, since hosts allow any; it is quoted wherever it is used. */
export const Identifier = z.string().min(1, 'must not be empty').max(255, 'must not be longer than 255 characters')

/** What an action found and did. */
export const ActionOutcome = z.object({
  /** `done`: the host says so. `running`: it has begun and goes on by itself. `ignored`: the host had nothing left to do. */
  state: z.enum(['done', 'running', 'ignored']),
  /** What was there when the action began: of a query its user and age, of a mutation what was left of it, of a table its parts. */
  target: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  /** The id of the statement on the host; null while it goes on. */
  queryId: z.string().nullable(),
})
export type ActionOutcome = z.infer<typeof ActionOutcome>

const ofTable = { database: Identifier, table: Identifier }

/** What each action is told, besides the host. */
export const actionParameters = {
  killQuery: { queryId: QueryId },
  optimizeTable: {
    ...ofTable,
    /** As `system.parts.partition_id` names it; all partitions when not given. */
    partitionId: z.string().min(1).max(255).optional(),
    /** Merge even where one part is left. */
    final: z.boolean().default(false),
    deduplicate: z.boolean().default(false),
  },
  killMutation: { ...ofTable, mutationId: z.string().min(1).max(255) },
} as const

const writing = { callers: ['gateway'], feature: 'ACTIONS', prefer: 'hostKey', output: ActionOutcome } as const

/** The few things that change a host. Each looks at its target first and refuses when that is not there any more. */
export const actionMethods = {
  killQuery: rpc({
    ...writing,
    doc: 'Ends a running query; `not-found` when none of this id runs.',
    input: z.object({ ...ofHost, ...actionParameters.killQuery }),
  }),
  optimizeTable: rpc({
    ...writing,
    doc: 'Merges the parts of a table, or of one partition. `not-found` without the table, `conflict` where its engine has no parts.',
    input: z.object({ ...ofHost, ...actionParameters.optimizeTable }),
  }),
  killMutation: rpc({
    ...writing,
    doc: 'Stops a mutation for good; `not-found` without it, `conflict` when it is done already.',
    input: z.object({ ...ofHost, ...actionParameters.killMutation }),
  }),
}
