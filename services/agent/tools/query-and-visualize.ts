import { z } from 'zod'
import { answerChartKinds, ChartPart } from '#proto/agent-parts.ts'
import { noSuch } from '#shared/text/no-such.ts'
import { hostAt, readTool, result } from '#shared/tools/tool.ts'
import { name, ofHost, sql } from '#shared/tools/tool-parameters.ts'

/** Rows that a page draws, and those of them that the model reads. */
const mostRows = 1_000
const toldRows = 50
const mostColumns = 64
const mostDrawn = 16

export const queryAndVisualize = readTool({
  name: 'query_and_visualize',
  title: 'Draw a chart',
  description: 'Runs one SELECT and shows the person a chart of its rows, at most 1000; order them as they are drawn.',
  feature: 'QUERIES',
  example: { title: 'One', sql: 'SELECT 1 AS one', kind: 'bar' },
  core: true,
  input: z.strictObject({
    ...ofHost,
    title: z.string().min(1).max(200).describe('What the chart shows'),
    sql,
    kind: z.enum(answerChartKinds).describe('How to draw it'),
    x: name('Column along the axis').optional(),
    y: z.array(name('A column')).max(mostDrawn).default([]).describe('Columns that are drawn; all others if none'),
    unit: ChartPart.shape.unit.unwrap().optional().describe('What the drawn numbers are'),
  }),
  async run({ hostId, title, sql: query, kind, x, y, unit }, context) {
    const host = await hostAt(context, hostId)
    const { columns, rows, truncated } = await context.query.runQuery(
      { hostKey: host.key, query, maxRows: mostRows },
      context.call,
    )
    const names = columns.map((column) => column.name).slice(0, mostColumns)
    for (const each of [...(x === undefined ? [] : [x]), ...y]) {
      if (!names.includes(each)) throw noSuch('column of the result', each, names, 'y')
    }
    const drawn = y.length > 0 ? y : names.filter((each) => each !== x).slice(0, mostDrawn)
    const chart: ChartPart = {
      title,
      kind,
      hostKey: host.key,
      sql: query,
      columns: columns.slice(0, mostColumns),
      rows: rows.map((row) => row.slice(0, mostColumns)),
      x: x ?? null,
      y: drawn,
      unit: unit ?? null,
    }
    const cut = truncated ? ', cut off: there are more' : ''
    return {
      ...result(`The person sees a chart of ${rows.length} rows${cut}.`, { columns, rows: rows.slice(0, toldRows) }),
      parts: [{ type: 'data-chart', data: chart }],
    }
  },
})
