import { z } from 'zod'
import { answerChartKinds, ChartPart } from '#proto/agent-parts.ts'
import { createNotFoundError } from '#shared/text/not-found.ts'
import { findHost, defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import { createNameParameter, hostParameter, sqlParameter } from '#shared/tools/tool-parameters.ts'

/** Maximum number of rows in the chart. The model receives at most `maxModelRows`. */
const maxRows = 1_000
const maxModelRows = 50
const maxColumns = 64
const maxSeries = 16

export const queryAndVisualize = defineReadTool({
  name: 'query_and_visualize',
  title: 'Draw a chart',
  description:
    'Runs one SELECT and shows the user a chart of its rows, at most 1000. Sort the rows as the chart should show them.',
  feature: 'QUERIES',
  example: { title: 'One', sql: 'SELECT 1 AS one', kind: 'bar' },
  core: true,
  input: z.strictObject({
    ...hostParameter,
    title: z.string().min(1).max(200).describe('Title of the chart'),
    sql: sqlParameter,
    kind: z.enum(answerChartKinds).describe('Chart type'),
    x: createNameParameter('Column of the x axis').optional(),
    y: z
      .array(createNameParameter('A column'))
      .max(maxSeries)
      .default([])
      .describe('Columns of the series; all columns but x when empty'),
    unit: ChartPart.shape.unit.unwrap().optional().describe('Unit of the values'),
  }),
  async run({ hostId, title, sql: query, kind, x, y, unit }, context) {
    const host = await findHost(context, hostId)
    const { columns, rows, truncated } = await context.query.runQuery(
      { hostKey: host.key, query, maxRows },
      context.call,
    )
    const names = columns.map((column) => column.name).slice(0, maxColumns)
    for (const each of [...(x === undefined ? [] : [x]), ...y]) {
      if (!names.includes(each)) throw createNotFoundError('column of the result', each, names, 'y')
    }
    const drawn = y.length > 0 ? y : names.filter((each) => each !== x).slice(0, maxSeries)
    const chart: ChartPart = {
      title,
      kind,
      hostKey: host.key,
      sql: query,
      columns: columns.slice(0, maxColumns),
      rows: rows.map((row) => row.slice(0, maxColumns)),
      x: x ?? null,
      y: drawn,
      unit: unit ?? null,
    }
    const cut = truncated ? ', truncated: there are more rows' : ''
    return {
      ...createToolResult(`The user sees a chart of ${rows.length} rows${cut}.`, {
        columns,
        rows: rows.slice(0, maxModelRows),
      }),
      parts: [{ type: 'data-chart', data: chart }],
    }
  },
})
