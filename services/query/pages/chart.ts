import { requireFeature, type CallContext } from '#proto/call.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { query, ChartData, UnavailableReason, TimeWindow } from '#proto/query.ts'
import type { IncompleteReason } from '#proto/unavailable-reason.ts'
import { checkRequirements, createUnsupportedVersionReason, findUnavailableReason } from '../clickhouse/availability.ts'
import type { QueryResult } from '../clickhouse/client.ts'
import { toStatementFacts } from '../clickhouse/cost.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { toIncompleteReason } from '../clickhouse/show-privileges.ts'
import { buildChartStatement, maxChartRows } from '../definitions/chart-statement.ts'
import { toChartInfo } from '../definitions/definitions.ts'
import type { LoadedChart } from '../definitions/load.ts'
import { rejectUnknownParameters, type ParameterValues, resolveZone } from '../definitions/parameters.ts'
import { type ChartWindow, resolveChartWindow, toResponseWindow } from '../definitions/window.ts'
import { addChartHistory } from '../history/chart-history.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'

/** Returns the handler for one chart of one host. */
export const createChartHandler =
  (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['chart'] =>
  async (input, call) => {
    const host = parts.hosts.get(input.hostKey)
    const definition = parts.definitions.chart(input.name)
    rejectUnknownParameters(definition.parameters, input.parameters)
    const request = { parts, host, chart: definition, question: input, call }
    return addChartHistory(request, (question) => queryChart(parts, host, definition, question, call))
  }

export interface ChartRequest extends TimeWindow {
  parameters: ParameterValues
}

/** A chart that is ready to run, with its statement and time window. */
export interface PreparedChart {
  chart: LoadedChart
  window: ChartWindow | undefined
  zone: string | undefined
  statement: Statement
  incomplete: IncompleteReason | null
}

/** Reads the series of a chart. Missing tables or grants make it `unavailable`, not an error. */
export const queryChart = async (
  parts: QueryHandlerDeps,
  host: MonitoredHost,
  chart: LoadedChart,
  question: ChartRequest,
  call: CallContext,
): Promise<ChartData> => {
  const prepared = await prepareChart(parts, host, chart, question, call)
  return 'rows' in prepared ? prepared : runChart(parts, host, prepared, call)
}

/** Returns the chart with its statement, or an unavailable result. Throws when the caller may not see it. */
export const prepareChart = async (
  parts: QueryHandlerDeps,
  host: MonitoredHost,
  chart: LoadedChart,
  question: ChartRequest,
  call: CallContext,
): Promise<PreparedChart | ChartData> => {
  requireFeature(call.identity, chart.feature, `the chart ${chart.name}`)
  const zone = resolveZone(question.timezone, parts.env)
  const window = resolveChartWindow(chart, question, parts.clock.now() + parts.probe.skewMs(host.key))
  const { version: serverVersion, logs, missingShow } = await parts.client.capabilities(host, call)
  const missing = await checkRequirements(parts.client, host, chart, call)
  if (missing) return without(chart, window, missing)

  const statement = buildChartStatement(chart, { serverVersion, logs, window, zone, parameters: question.parameters })
  if (!statement) return without(chart, window, createUnsupportedVersionReason(host, serverVersion))
  return { chart, window, zone, statement, incomplete: toIncompleteReason(host, missingShow, chart.requires) }
}

/** Runs the statement of one chart. */
export const runChart = async (
  { client }: QueryHandlerDeps,
  host: MonitoredHost,
  ready: PreparedChart,
  call: CallContext,
): Promise<ChartData> => {
  try {
    return toChartData(host, ready, await client.run(host, ready.statement, call))
  } catch (error) {
    const unavailable = findUnavailableReason(client, host, ready.chart, error)
    if (unavailable) return without(ready.chart, ready.window, unavailable)
    throw error
  }
}

/** Converts a result to chart data. */
export const toChartData = (
  host: MonitoredHost,
  { chart, window, zone, statement, incomplete }: PreparedChart,
  result: QueryResult,
): ChartData => {
  if (result.rows.length > maxChartRows) {
    throw new ServiceError(
      'too-large',
      `chart "${chart.name}" has more than ${maxChartRows} points; choose a longer interval`,
    )
  }
  return {
    chart: toChartInfo(chart),
    rows: rowsOf(chart, result),
    window: window ? toResponseWindow(window) : null,
    unavailable: null,
    statement: toStatementFacts(host, statement, result, result.rows.length, zone, incomplete),
  }
}

/** Drops the rows without a series name that gap filling adds to an empty result. A user may also have no name. */
const rowsOf = (chart: LoadedChart, { columns, rows }: QueryResult): ChartData['rows'] => {
  const series = chart.columns.filter((column) => column.role === 'series').map((column) => column.name)
  const named = rows.map((row) => Object.fromEntries(columns.map(({ name }, index) => [name, row[index]])))
  if (series.length === 0) return named
  const values = chart.columns.filter((column) => column.role === 'value').map((column) => column.name)
  const isNameless = (row: ChartData['rows'][number]) => series.every((name) => row[name] === '')
  const hasValue = (row: ChartData['rows'][number]) => values.some((name) => Number(row[name] ?? 0) !== 0)
  return named.some((row) => isNameless(row) && hasValue(row)) ? named : named.filter((row) => !isNameless(row))
}

const without = (chart: LoadedChart, window: ChartWindow | undefined, unavailable: UnavailableReason): ChartData => ({
  chart: toChartInfo(chart),
  rows: [],
  window: window ? toResponseWindow(window) : null,
  unavailable,
  statement: null,
})
