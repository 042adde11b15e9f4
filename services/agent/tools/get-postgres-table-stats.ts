import { z } from 'zod'
import { postgresTableOrders } from '#proto/postgres-statistics.ts'
import { defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import { createLimitParameter, createNameParameter } from '#shared/tools/tool-parameters.ts'

export const getPostgresTableStats = defineReadTool({
  name: 'get_postgres_table_stats',
  title: 'PostgreSQL tables',
  description:
    'Tables of the PostgreSQL source with sizes, dead rows, sequential and index scans, writes, last vacuum and analyze.',
  feature: 'TABLES',
  source: 'PostgreSQL source',
  input: z.strictObject({
    order: z.enum(postgresTableOrders).default('size').describe('Sort key, largest first'),
    search: createNameParameter('Text that schema.table contains').optional(),
    limit: createLimitParameter(20, 200),
  }),
  async run(options, { query, call }) {
    const { tables, database, ...facts } = await query.postgresTables(options, call)
    return createToolResult(`${tables.length} tables of ${database}, ordered by ${options.order}.`, {
      tables,
      database,
      ...facts,
    })
  },
})
