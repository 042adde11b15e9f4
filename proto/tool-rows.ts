import { z } from 'zod'
import { rpc } from './contract.ts'
import { Evidence } from './evidence.ts'
import { ofHost } from './host.ts'
import { Row } from './statement.ts'

/** Most rows that a tool reads by one statement. */
const maxToolRows = 1_000

/** What tools of `mcp` and `agent` read by fixed statements, which `query` keeps; callers name one and never send SQL. */
export const toolRowMethods = {
  toolRows: rpc({
    doc: 'Rows of one fixed statement of a tool, by the names of its columns, and the evidence of them. The feature of the tool is checked too.',
    callers: ['agent', 'mcp'],
    feature: 'QUERIES',
    safe: true,
    prefer: 'hostKey',
    input: z.object({
      ...ofHost,
      /** Name of the tool, such as `get_table_parts`. */
      tool: z.string().max(64),
      /** Name of the statement among those of the tool. */
      statement: z.string().max(64),
      /** Values of the placeholders `{name:Type}` of the statement. */
      parameters: z.record(z.string().max(64), z.union([z.string().max(8_192), z.number()])).default({}),
      maxRows: z.int().min(1).max(maxToolRows),
    }),
    output: z.object({ rows: z.array(Row), evidence: Evidence }),
  }),
}
