import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { maxStatementLength, ResultColumn, Truncation, defaultResultRows } from '#proto/console.ts'
import { integerSchema } from '#shared/tools/read-rows.ts'
import { findHost, defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import { createNameParameter, hostParameter, structuredParameter } from '#shared/tools/tool-parameters.ts'
import { formatRow, selectRows, toCell } from '../result-rows.ts'
import { formatCountedNoun } from '../result-text.ts'
import { requireSupportedStatement } from '../supported-statements.ts'

/** Limits of a result unless the request sets higher ones: a model reads the whole result. */
const usualRows = 200
const usualBytes = 50 * 1024
const usualTokens = 14_000
/** Maximum size of the rows: more than a model reads, and small enough for the memory of this service. */
const maxBytes = 1024 * 1024

const Cell = z.union([z.string(), z.number(), z.boolean(), z.null()])

export const queryTool = defineReadTool({
  name: 'query',
  title: 'Run a read-only query',
  description:
    'Runs one SELECT, WITH, DESCRIBE or EXPLAIN and returns a tab-separated table. Aggregate or filter rather than raise the limits.',
  feature: 'QUERIES',
  core: true,
  example: { sql: 'SELECT 1' },
  input: z.strictObject({
    ...hostParameter,
    sql: z.string().min(1).max(maxStatementLength).describe('Statement without FORMAT and SETTINGS'),
    database: createNameParameter('Default database for unqualified names').optional(),
    maxRows: z.int().min(1).max(defaultResultRows).default(usualRows).describe('Maximum rows'),
    maxBytes: z.int().min(1_000).max(maxBytes).optional().describe(`Maximum size; default ${usualBytes}`),
    ...structuredParameter,
  }),
  output: z.object({
    columns: z.array(ResultColumn),
    rows: z.array(z.array(Cell)),
    truncated: Truncation.extend({ limit: integerSchema, returned: integerSchema }).nullable(),
    rowsRead: integerSchema,
    durationMs: integerSchema,
  }),
  format: ({ columns, rows }) => [formatHeader(columns), ...rows.map(formatRow)].join('\n'),
  async run({ hostId, sql, maxBytes: wantedBytes, database, maxRows }, context) {
    requireSupportedStatement(sql)
    const host = await findHost(context, hostId)
    const runId = randomUUID()
    // Polls get no spans.
    const poll = { ...context.call, trace: undefined }
    context.onRun?.(() => context.query.runProgress({ hostKey: host.key, runId }, poll))
    const options = { runId, ...(database !== undefined && { database }), maxRows, maxBytes }
    const answer = await context.query.runQuery({ hostKey: host.key, query: sql, ...options }, context.call)
    const limits = {
      header: formatHeader(answer.columns),
      maxBytes: wantedBytes ?? usualBytes,
      maxTokens: wantedBytes === undefined ? usualTokens : undefined,
    }
    const rows = selectRows(
      answer.rows.map((row) => row.map(toCell)),
      limits,
    )
    const isCut = rows.length < answer.rows.length || answer.truncated?.reason === 'bytes'
    const truncated = isCut
      ? { reason: 'bytes' as const, limit: limits.maxBytes, returned: rows.length }
      : answer.truncated
    const text = truncated
      ? `${formatCountedNoun(rows.length, 'row')}, cut off at ${formatCountedNoun(truncated.limit, truncated.reason.replace(/s$/, ''))}: there are more. Aggregate, filter or raise ${truncated.reason === 'rows' ? 'maxRows' : 'maxBytes'} to see all.`
      : `${formatCountedNoun(rows.length, 'row')}, complete.`
    const { rowsRead, durationMs } = answer.statement
    return createToolResult(text, {
      columns: answer.columns,
      rows,
      truncated,
      rowsRead,
      durationMs: Math.round(durationMs),
    })
  },
})

/** Returns the lines of names and of types before the rows. */
const formatHeader = (columns: readonly z.infer<typeof ResultColumn>[]): string =>
  [columns.map(({ name }) => name), columns.map(({ type }) => type)].map(formatRow).join('\n')
