import { z } from 'zod'
import { findHost, defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import { createNameParameter, hostParameter, sqlParameter } from '#shared/tools/tool-parameters.ts'

export const estimateQueryCost = defineReadTool({
  name: 'estimate_query_cost',
  title: 'Estimate a query',
  description:
    'Parts, granules and rows of each MergeTree table that a SELECT would read, and their totals, without running it.',
  feature: 'QUERIES',
  example: { sql: 'SELECT count() FROM system.tables' },
  input: z.strictObject({
    ...hostParameter,
    sql: sqlParameter,
    database: createNameParameter('Default database of the query').optional(),
  }),
  async run({ hostId, sql: query, ...options }, context) {
    const host = await findHost(context, hostId)
    const of = { hostKey: host.key }
    const { estimates } = await context.query.explain({ ...of, query, mode: 'estimate', ...options }, context.call)
    const tables = await Promise.all(
      (estimates ?? []).slice(0, maxTables).map(async (read) => {
        const { database, table } = read
        const { detail } = await context.query.exploreTable({ ...of, database, table }, context.call)
        return { ...read, ofParts: detail?.parts ?? null, ofMarks: detail?.marks ?? null, ofRows: detail?.rows ?? null }
      }),
    )
    const rows = tables.reduce((sum, each) => sum + each.rows, 0)
    const text =
      tables.length === 0
        ? 'The query reads no data from MergeTree tables.'
        : `The query would read about ${rows} rows of ${tables.length} ${tables.length === 1 ? 'table' : 'tables'} on ${host.name}.`
    return createToolResult(text, { rows, tables })
  },
})

/** Maximum number of tables that the tool returns for one statement. */
const maxTables = 20
