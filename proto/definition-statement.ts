import { z } from 'zod'
import { rpc } from './contract.ts'
import { ofHost } from './host.ts'
import { Unavailable } from './unavailable.ts'

/** Methods that show how the product itself asks. */
export const definitionStatementMethods = {
  definitionStatement: rpc({
    doc: 'The statement of a chart or a table page as it would be sent to one host, with the values of its placeholders; it is not sent. The feature of the definition is checked too.',
    callers: ['agent'],
    safe: true,
    prefer: 'hostKey',
    input: z.object({ ...ofHost, kind: z.enum(['chart', 'table']), name: z.string().min(1).max(128) }),
    output: z.object({
      /** Null where the host lacks what the statement needs. */
      sql: z.string().nullable(),
      parameters: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
      unavailable: Unavailable.nullable(),
    }),
  }),
}
