import { z } from 'zod'
import { maxStatementLength, ResultColumn, Truncation, defaultResultRows } from '#proto/console.ts'
import { findHost, defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import { createNameParameter, hostParameter } from '#shared/tools/tool-parameters.ts'
import { formatCountedNoun } from '../result-text.ts'

/** Maximum size of the rows: more than a model reads, and small enough for the memory of this service. */
const maxBytes = 1024 * 1024

/** Values of other types, such as arrays, are returned as JSON text. */
const Cell = z.union([z.string(), z.number(), z.boolean(), z.null()])

export const queryTool = defineReadTool({
  name: 'query',
  title: 'Run a read-only query',
  description:
    'Runs one SELECT, WITH, DESCRIBE or EXPLAIN; writes and access to other servers are rejected. Rows are truncated at maxRows or 1 MiB: aggregate, or add a LIMIT.',
  feature: 'QUERIES',
  core: true,
  example: { sql: 'SELECT 1' },
  input: z.strictObject({
    ...hostParameter,
    sql: z.string().min(1).max(maxStatementLength).describe('Statement without FORMAT and SETTINGS'),
    database: createNameParameter('Default database for unqualified names').optional(),
    maxRows: z.int().min(1).max(defaultResultRows).default(defaultResultRows).describe('Maximum rows'),
  }),
  output: z.object({
    columns: z.array(ResultColumn),
    rows: z.array(z.array(Cell)),
    truncated: Truncation.extend({ limit: z.number(), returned: z.number() }).nullable(),
    rowsRead: z.number(),
    durationMs: z.number(),
  }),
  async run({ hostId, sql, ...options }, context) {
    const host = await findHost(context, hostId)
    const input = { hostKey: host.key, query: sql, maxBytes, ...options }
    const { columns, rows, truncated, statement } = await context.query.runQuery(input, context.call)
    const text = truncated
      ? `${formatCountedNoun(rows.length, 'row')}, cut off at ${formatCountedNoun(truncated.limit, truncated.reason.replace(/s$/, ''))}: there are more. Aggregate, filter or LIMIT to see all.`
      : `${formatCountedNoun(rows.length, 'row')}, complete.`
    const { rowsRead, durationMs } = statement
    return createToolResult(text, {
      columns,
      rows: rows.map((row) => row.map(cellOf)),
      truncated,
      rowsRead,
      durationMs: Math.round(durationMs),
    })
  },
})

const cellOf = (value: unknown): z.infer<typeof Cell> => {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  return value === null || value === undefined ? null : JSON.stringify(value)
}
