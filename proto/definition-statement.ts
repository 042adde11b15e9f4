import { z } from 'zod'
import { rpc } from './contract.ts'
import { hostInput } from './host.ts'
import { UnavailableReason } from './unavailable-reason.ts'

/** Methods that return the product's own statements. */
export const definitionStatementMethods = {
  definitionStatement: rpc({
    doc: 'Returns the statement of a chart or a table page for one host with the values of its placeholders, without running it. Also checks the feature of the definition.',
    callers: ['agent', 'gateway'],
    safe: true,
    prefer: 'hostKey',
    input: z.object({ ...hostInput, kind: z.enum(['chart', 'table']), name: z.string().min(1).max(128) }),
    output: z.object({
      /** The statement; null if the host lacks a required table. */
      sql: z.string().nullable(),
      parameters: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
      unavailable: UnavailableReason.nullable(),
    }),
  }),
}
