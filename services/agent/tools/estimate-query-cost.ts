import { z } from 'zod'
import { name } from '#shared/tools/tool-parameters.ts'
import { hostAt, ofHost, readTool, sql, told } from '../read-tool.ts'

export const estimateQueryCost = readTool({
  name: 'estimate_query_cost',
  title: 'Estimate a query',
  description:
    'Parts, granules and rows that a SELECT would read of each MergeTree table, and of how many, without running it.',
  feature: 'QUERIES',
  input: z.strictObject({
    ...ofHost,
    sql,
    database: name('Where names without a database are looked up').optional(),
  }),
  async run({ hostId, sql: query, ...asked }, asking) {
    const host = await hostAt(asking, hostId)
    const of = { hostKey: host.key }
    const { estimates } = await asking.query.explain({ ...of, query, mode: 'estimate', ...asked }, asking.call)
    const tables = await Promise.all(
      (estimates ?? []).slice(0, mostTables).map(async (read) => {
        const { database, table } = read
        const { detail } = await asking.query.exploreTable({ ...of, database, table }, asking.call)
        return { ...read, ofParts: detail?.parts ?? null, ofMarks: detail?.marks ?? null, ofRows: detail?.rows ?? null }
      }),
    )
    const rows = tables.reduce((sum, each) => sum + each.rows, 0)
    const text =
      tables.length === 0
        ? 'It reads no MergeTree table, or nothing of one.'
        : `It would read about ${rows} rows of ${tables.length} ${tables.length === 1 ? 'table' : 'tables'} on ${host.name}.`
    return told(text, { rows, tables })
  },
})

/** Tables of one statement that are told. */
const mostTables = 20
