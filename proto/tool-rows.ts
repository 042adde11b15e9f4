import { z } from 'zod'
import { rpc } from './contract.ts'
import { Evidence } from './evidence.ts'
import { hostInput } from './host.ts'
import { Row } from './statement.ts'
import { IncompleteReason } from './unavailable-reason.ts'

/** Maximum rows of one statement of a tool. */
const maxToolRows = 1_000

/**
 * Methods that run fixed statements in `query` for tools of `mcp` and `agent`. Callers name a statement and never send
 * SQL.
 */
export const toolRowMethods = {
  toolRows: rpc({
    doc: 'Returns the rows of one fixed statement of a tool, and their evidence. Also checks the feature of the tool.',
    callers: ['agent', 'mcp'],
    feature: 'QUERIES',
    safe: true,
    prefer: 'hostKey',
    input: z.object({
      ...hostInput,
      /** Name of the tool, such as `get_table_parts`. */
      tool: z.string().max(64),
      /** Name of the statement of the tool. */
      statement: z.string().max(64),
      /** Values of the placeholders `{name:Type}` of the statement. */
      parameters: z.record(z.string().max(64), z.union([z.string().max(8_192), z.number()])).default({}),
      maxRows: z.int().min(1).max(maxToolRows),
    }),
    output: z.object({ rows: z.array(Row), evidence: Evidence, incomplete: IncompleteReason.nullable().default(null) }),
  }),
}
