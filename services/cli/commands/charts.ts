import { Command } from 'commander'
import type { ResponseBody } from '#proto/http/route.ts'
import { type CommandContext, openSession, type Session } from '../context.ts'
import { hostOption, selectHost, type HostOptions } from '../hosts.ts'
import { formatExamples, readLastMinutes } from '../options.ts'
import { formatCell } from '../output/cells.ts'
import { formatInstant, formatSeconds, formatSparkline, formatUnit } from '../output/format.ts'
import type { Output } from '../output/output.ts'
import { toSeries, type Series } from '../output/series.ts'
import { fitWidth, padToWidth, toSafeLine } from '../output/terminal-text.ts'

type ChartOptions = HostOptions & { last?: string; search?: string }

/** Lists the charts, or shows charts as sparklines. */
export const createChartsCommand = (context: CommandContext): Command =>
  new Command('charts')
    .description('list the charts, or show charts as sparklines')
    .argument('[names...]', 'names of charts')
    .addOption(hostOption())
    .option('--last <duration>', 'time range, such as 30m, 6h or 7d')
    .option('--search <text>', 'only charts whose name, title or description contains the text')
    .addHelpText(
      'after',
      formatExamples('watchhouse charts --search memory', 'watchhouse charts query-count query-memory --last 6h'),
    )
    .action(async (names: string[], options: ChartOptions, command) => {
      const lastMinutes = readLastMinutes(options.last)
      const session = openSession(context, command)
      if (names.length === 0) return listCharts(session, options.search)
      const { client, output } = session
      const host = await selectHost(client, options)
      const charts: ResponseBody<'GET /api/v1/charts/{name}'>[] = []
      for (const name of names)
        charts.push(
          await client.call('GET /api/v1/charts/{name}', { path: { name }, query: { hostId: host.id, lastMinutes } }),
        )
      if (output.mode === 'json') return output.json(charts.map(({ data, metadata }) => ({ rows: data, ...metadata })))
      for (const chart of charts) writeChart(output, chart)
    })

const listCharts = async ({ client, output }: Session, search = ''): Promise<void> => {
  const { data } = await client.call('GET /api/v1/catalogue')
  const wanted = search.toLowerCase()
  output.list({
    rows: data.charts
      .filter(({ name, title, doc }) => `${name} ${title} ${doc}`.toLowerCase().includes(wanted))
      .map(({ name, title, topic, kind, doc }) => ({ name, title, topic, kind, doc })),
    empty: 'No charts match.',
    columns: [
      { title: 'NAME', value: ({ name }) => name },
      { title: 'TITLE', value: ({ title }) => title },
      { title: 'TOPIC', value: ({ topic }) => topic },
      { title: 'DESCRIPTION', value: ({ doc }) => doc },
    ],
  })
}

/** Widths of the columns beside the sparkline. */
const nameWidth = 22
const statisticsWidth = 40
const maxSeries = 12

const writeChart = (output: Output, { data, metadata }: ResponseBody<'GET /api/v1/charts/{name}'>): void => {
  const { chart, window, unavailable } = metadata
  if (unavailable) return output.note(`${chart.name}: ${unavailable.message}`)
  const series = toSeries(chart, data)
  // Events, and values without a time axis, are rows.
  if (series === undefined || output.mode === 'plain')
    return output.list<Readonly<Record<string, unknown>>>({
      rows: data,
      empty: `${chart.title}: no data.`,
      columns: chart.columns.map(({ name }) => ({ title: name, value: (row) => formatCell(row[name]) })),
    })
  const range = window ? ` · ${formatInstant(window.fromMs)} to ${formatInstant(window.toMs)} UTC` : ''
  const bucket = window?.bucketSeconds ? ` · ${formatSeconds(window.bucketSeconds)} per bar` : ''
  output.line(output.paint(chart.title, 'strong') + output.paint(range + bucket, 'muted'))
  for (const each of series.slice(0, maxSeries)) writeSeries(output, each)
  if (series.length > maxSeries) output.line(output.paint(`and ${series.length - maxSeries} more series`, 'muted'))
  if (series.length === 0) output.line(output.paint('no data', 'muted'))
  output.line()
}

const writeSeries = (output: Output, { name, unit, values }: Series): void => {
  const known = values.filter((value) => value !== null)
  const bars = formatSparkline(values, Math.max(10, output.width - nameWidth - statisticsWidth))
  const figures = [
    ['min', Math.min(...known)],
    ['max', Math.max(...known)],
    ['last', known.at(-1)],
  ] as const
  const statistics = figures.map(([word, value]) => `${word} ${formatUnit(value, unit)}`).join('  ')
  output.line(
    `${padToWidth(toSafeLine(name), nameWidth)} ${output.paint(bars, 'good')} ${fitWidth(statistics, statisticsWidth)}`,
  )
}
