import { requireFeature } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { ChartData, Unavailable, Window } from '#proto/query.ts'
import { missingNeeds, tooOld, unavailableBy } from './availability.ts'
import type { Answer } from './clickhouse/client.ts'
import type { Statement } from './clickhouse/statement.ts'
import type { Call } from '#proto/call.ts'
import { chartStatement, maxChartRows } from './definitions/chart-statement.ts'
import { chartInfo } from './definitions/definitions.ts'
import type { LoadedChart } from './definitions/load.ts'
import type { GivenParameters } from './definitions/parameters.ts'
import { type ChartWindow, chartWindow } from './definitions/window.ts'
import { zoneFor } from './definitions/zone.ts'
import type { Parts } from './handlers/parts.ts'
import type { MonitoredHost } from './hosts/host-list.ts'
import { statementFacts } from './statement-facts.ts'

export interface ChartQuestion extends Window {
  parameters: GivenParameters
}

/** The series of one chart on one host. What a host lacks makes the answer `unavailable`, not an error. */
export const drawChart = async (
  parts: Parts,
  host: MonitoredHost,
  chart: LoadedChart,
  question: ChartQuestion,
  call: Call,
): Promise<ChartData> => {
  requireFeature(call.identity, chart.feature, `the chart ${chart.name}`)
  const zone = zoneFor(question.timezone, parts.env)
  const window = chartWindow(chart, question, parts.clock.now() + parts.probe.skewMs(host.key))
  const capabilities = await parts.client.capabilities(host, call)
  const missing = await missingNeeds(parts.client, host, chart, call)
  if (missing) return without(chart, window, missing)

  const { version: serverVersion, tables } = capabilities
  const statement = chartStatement(chart, { serverVersion, tables, window, zone, parameters: question.parameters })
  if (!statement) return without(chart, window, tooOld(host, serverVersion))
  try {
    const answer = await parts.client.run(host, statement, call)
    return drawn(host, chart, window, statement, answer, zone)
  } catch (error) {
    const unavailable = unavailableBy(parts.client, host, chart, error)
    if (unavailable) return without(chart, window, unavailable)
    throw error
  }
}

const drawn = (
  host: MonitoredHost,
  chart: LoadedChart,
  window: ChartWindow | undefined,
  statement: Statement,
  answer: Answer,
  zone: string | undefined,
): ChartData => {
  if (answer.rows.length > maxChartRows) {
    throw new ServiceError(
      'too-large',
      `the chart ${chart.name} has more than ${maxChartRows} points; take a longer interval`,
    )
  }
  return {
    chart: chartInfo(chart),
    rows: rowsOf(chart, answer),
    window: windowOf(window),
    unavailable: null,
    statement: statementFacts(host, statement, answer, answer.rows.length, zone),
  }
}

/** Gap filling makes up a series without a name where there is none at all; such rows say nothing. */
const rowsOf = (chart: LoadedChart, { columns, rows }: Answer): ChartData['rows'] => {
  const series = chart.columns.filter((column) => column.role === 'series').map((column) => column.name)
  const named = rows.map((row) => Object.fromEntries(columns.map(({ name }, index) => [name, row[index]])))
  return series.length === 0 ? named : named.filter((row) => series.some((name) => row[name] !== ''))
}

const without = (chart: LoadedChart, window: ChartWindow | undefined, unavailable: Unavailable): ChartData => ({
  chart: chartInfo(chart),
  rows: [],
  window: windowOf(window),
  unavailable,
  statement: null,
})

const windowOf = (window: ChartWindow | undefined): ChartData['window'] =>
  window ? { interval: window.interval ?? null, fromMs: window.fromMs, toMs: window.toMs } : null
