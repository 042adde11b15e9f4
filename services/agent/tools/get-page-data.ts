import { z } from 'zod'
import { maxHours } from '#proto/time-limits.ts'
import type { StatementExecution } from '#proto/statement.ts'
import type { HistoryPart } from '#proto/history.ts'
import { hasLookbackWindow } from '#proto/lookback.ts'
import { createNotFoundError } from '#shared/text/not-found.ts'
import { hashJson } from '#shared/evidence/recording.ts'
import { formatInstant } from '#shared/time/format-instant.ts'
import { findHost, defineReadTool, createToolResult, type ToolContext, type ToolResult } from '#shared/tools/tool.ts'
import { createLimitParameter, createNameParameter, hostParameter } from '#shared/tools/tool-parameters.ts'

/** Maximum size of the rows to read from a page, in bytes. The result for the model is shorter. */
const maxBytes = 1024 * 1024

export const getPageData = defineReadTool({
  name: 'get_page_data',
  title: 'Read a page',
  description: 'Rows of a chart or table page, without query texts. find_reference_query returns the names of pages.',
  feature: null,
  answersFromHistory: true,
  input: z.strictObject({
    ...hostParameter,
    name: createNameParameter('Name of the chart or table page, such as failed-queries'),
    search: createNameParameter('Text that rows of a table page contain').optional(),
    lastHours: z
      .int()
      .min(1)
      .max(maxHours)
      .optional()
      .describe('Hours to look back; by default as many as the page does'),
    limit: createLimitParameter(50, 200),
  }),
  async run({ hostId, name: page, search, lastHours, limit }, context) {
    const host = await findHost(context, hostId)
    const { tables, charts } = await context.query.catalogue({}, context.call)
    const table = tables.find((each) => each.name === page)
    if (table) {
      const span = hasLookbackWindow(table) && lastHours ? { lastHours } : {}
      return readTable(context, { hostKey: host.key, name: page, limit, ...(search && { search }), ...span })
    }
    if (charts.some((chart) => chart.name === page)) {
      return readChart(context, { hostKey: host.key, name: page, ...(lastHours && { lastHours }) }, limit)
    }
    throw createNotFoundError(
      'page',
      page,
      [...tables, ...charts].map((each) => each.name),
    )
  },
})

interface TableRequest {
  hostKey: string
  name: string
  limit: number
  search?: string
  lastHours?: number
}

const readTable = async (context: ToolContext, request: TableRequest): Promise<ToolResult> => {
  const { head, frames, tail } = await context.query.table(request, context.call)
  if (head.unavailable) return createToolResult(`No data: ${head.unavailable.message}`, { rows: [] })
  const chunks: Uint8Array[] = []
  let read = 0
  for await (const frame of frames) {
    read += frame.length
    if (read > maxBytes) return createToolResult('The rows are too large to return; use the query tool.', { rows: [] })
    chunks.push(frame)
  }
  // Query texts may contain personal data, so those columns are omitted.
  const leftOut = head.table.columns.filter(({ format }) => format === 'query').map((column) => column.name)
  const rows = parseRows(Buffer.concat(chunks).toString('utf8'), leftOut)
  const { truncated, statement } = tail()
  const text = `${rows.length} rows of ${head.table.title}${truncated ? ', and there are more' : ''}.${head.history ? ` ${describeHistory(head.history)}` : ''}`
  return withEvidence(context, createToolResult(text, { rows, leftOut }), { ...request, statement, rows })
}

const parseRows = (lines: string, leftOut: readonly string[]): object[] =>
  lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const row = z.record(z.string(), z.unknown()).parse(JSON.parse(line))
      return Object.fromEntries(Object.entries(row).filter(([column]) => !leftOut.includes(column)))
    })

interface ChartRequest {
  hostKey: string
  name: string
  lastHours?: number
}

const readChart = async (context: ToolContext, request: ChartRequest, limit: number): Promise<ToolResult> => {
  const { chart, rows, window, unavailable, statement, history } = await context.query.chart(request, context.call)
  if (unavailable) return createToolResult(`No data: ${unavailable.message}`, { rows: [] })
  const cut = rows.length > limit ? `, the last ${limit} returned` : ''
  const units = Object.fromEntries(chart.columns.map((column) => [column.name, column.unit]))
  const facts = { rows: rows.slice(-limit), units, window }
  const origin = history ? ` ${describeHistory(history)}` : ''
  return withEvidence(context, createToolResult(`${rows.length} rows of ${chart.title}${cut}.${origin}`, facts), {
    ...request,
    statement,
    rows,
  })
}

/** Returns which part of a chart or table page is from the history, and why. */
const describeHistory = ({ reason, fromMs, toMs, lastSampleMs }: HistoryPart): string =>
  reason === 'host-unreachable'
    ? `Host unreachable; from history, last sample at ${formatInstant(lastSampleMs)}.`
    : `From history: ${formatInstant(fromMs)} to ${formatInstant(toMs)}, before the log of the host begins.`

interface PageEvidence {
  hostKey: string
  name: string
  statement: StatementExecution | null
  rows: readonly object[]
}

const withEvidence = (
  { clock }: ToolContext,
  answer: ToolResult,
  { hostKey, name: page, statement, rows }: PageEvidence,
) => ({
  ...answer,
  ...(statement && {
    evidence: [
      {
        hostKey,
        statement: statement.sql,
        parameters: { page },
        atMs: clock.now(),
        rows: rows.length,
        rowHash: hashJson(rows),
      },
    ],
  }),
})
