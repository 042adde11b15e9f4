import { z } from 'zod'
import { rpc } from './contract.ts'
import { hostInput } from './host.ts'
import { QueryId } from './query-detail.ts'

/** Name of a database, table, user or role. ClickHouse allows any text, so statements must quote the name. */
export const Identifier = z.string().min(1, 'must not be empty').max(255, 'must not be longer than 255 characters')

/** The outcome of an action. */
export const ActionOutcome = z.object({
  /**
   * `done`: the host confirms it. `running`: it has started and continues by itself. `ignored`: the host had nothing
   * left to do.
   */
  state: z.enum(['done', 'running', 'ignored']),
  /** The target before the action: user and age of a query, remaining parts of a mutation, parts of a table. */
  target: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  /** The id of the statement on the host; null while it is running. */
  queryId: z.string().nullable(),
})
export type ActionOutcome = z.infer<typeof ActionOutcome>

const tableInput = { database: Identifier, table: Identifier }

/** The input fields of each action except the host. */
export const actionParameters = {
  killQuery: { queryId: QueryId },
  optimizeTable: {
    ...tableInput,
    /** A `partition_id` of `system.parts`; all partitions if absent. */
    partitionId: z.string().min(1).max(255).optional(),
    /** Whether to rewrite the data even if it is already in one part (`OPTIMIZE … FINAL`). */
    final: z.boolean().default(false),
    deduplicate: z.boolean().default(false),
  },
  killMutation: { ...tableInput, mutationId: z.string().min(1).max(255) },
} as const

const actionTraits = { callers: ['gateway'], feature: 'ACTIONS', prefer: 'hostKey', output: ActionOutcome } as const

/** Actions that change a host. Each first checks that its target still exists, and fails otherwise. */
export const actionMethods = {
  killQuery: rpc({
    ...actionTraits,
    doc: 'Kills a running query; `not-found` if no query with this id is running.',
    input: z.object({ ...hostInput, ...actionParameters.killQuery }),
  }),
  optimizeTable: rpc({
    ...actionTraits,
    doc: 'Merges the parts of a table or of one partition. `not-found` if the table does not exist, `conflict` if its engine has no parts.',
    input: z.object({ ...hostInput, ...actionParameters.optimizeTable }),
  }),
  killMutation: rpc({
    ...actionTraits,
    doc: 'Kills a mutation; `not-found` if it does not exist, `conflict` if it is done.',
    input: z.object({ ...hostInput, ...actionParameters.killMutation }),
  }),
}
