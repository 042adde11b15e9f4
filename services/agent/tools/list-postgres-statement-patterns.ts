import { z } from 'zod'
import { postgresStatementOrders } from '#proto/postgres-statistics.ts'
import { shortenText } from '#shared/text/strings.ts'
import { defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import { createLimitParameter, createNameParameter } from '#shared/tools/tool-parameters.ts'

const maxStatementLength = 1_000

export const listPostgresStatementPatterns = defineReadTool({
  name: 'list_postgres_statement_patterns',
  title: 'PostgreSQL statement patterns',
  description:
    'Statement patterns of the PostgreSQL source since its last statistics reset: calls, time, share of time, rows, reads, WAL.',
  feature: 'QUERIES',
  source: 'PostgreSQL source',
  input: z.strictObject({
    order: z.enum(postgresStatementOrders).default('total_time').describe('Sort key, largest first'),
    search: createNameParameter('Text that the pattern contains').optional(),
    limit: createLimitParameter(20, 200),
  }),
  async run(options, { query, call }) {
    const { statements, unavailable, ...facts } = await query.postgresStatements(options, call)
    if (unavailable) {
      return createToolResult(`No data: ${unavailable.message}`, { patterns: [], whatToDo: unavailable.steps })
    }
    const patterns = statements.map((each) => ({
      ...each,
      query: each.query && shortenText(each.query, maxStatementLength),
    }))
    return createToolResult(`${patterns.length} patterns, ordered by ${options.order}.`, { patterns, ...facts })
  },
})
