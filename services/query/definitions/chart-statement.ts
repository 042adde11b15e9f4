import { quoteName } from '#shared/sql/statement-text.ts'
import { type RotatedLogExpressions, selectSqlBranch } from '../clickhouse/capabilities.ts'
import type { Statement } from '../clickhouse/statement.ts'
import type { LoadedChart } from './load.ts'
import { buckets, type ChartWindow } from './window.ts'
import { expandMacros } from './macros.ts'
import { bindParameters, type ParameterValues } from './parameters.ts'
import { readsKeeper } from './check.ts'

/** Maximum rows of one chart. */
export const maxChartRows = 50_000

interface Circumstances {
  serverVersion: string
  logs: RotatedLogExpressions
  window: ChartWindow | undefined
  zone: string | undefined
  parameters: ParameterValues
}

/** Returns the statement of a chart for the version of a server; undefined if the chart has no SQL for this version. */
export const buildChartStatement = (chart: LoadedChart, circumstances: Circumstances): Statement | undefined => {
  const sql = selectSqlBranch(chart.sql, circumstances.serverVersion)
  if (sql === undefined) return undefined
  const expanded = expandMacros(sql.trim(), circumstances)
  return {
    what: `chart/${chart.name}`,
    hot: true,
    cache: chart.cache,
    bare: chart.bare,
    readsKeeper: readsKeeper(expanded),
    sql: addLimitsAndFill(chart, expanded, circumstances),
    parameters: bindParameters(chart.parameters, circumstances.parameters),
  }
}

/** Returns the SQL with limits. Time series are sorted, gaps are filled, and times become epoch milliseconds. */
const addLimitsAndFill = (chart: LoadedChart, sql: string, { window, zone }: Circumstances): string => {
  const time = chart.columns.find((column) => column.role === 'time')
  if (!time || window?.interval === undefined) return `SELECT * FROM (\n${sql}\n) LIMIT ${maxChartRows + 1}`
  const name = quoteName(time.name)
  const series = chart.columns.filter((column) => column.role === 'series').map((column) => quoteName(column.name))
  const { start, step } = buckets[window.interval]
  const others = chart.columns.filter((column) => column !== time).map((column) => quoteName(column.name))
  return `SELECT ${[`toUnixTimestamp64Milli(toDateTime64(${name}, 3)) AS ${name}`, ...others].join(', ')}
FROM (
SELECT * FROM (
${sql}
)
ORDER BY ${[...series, name].join(', ')} WITH FILL FROM ${start(window.since, zone)} TO ${window.until} STEP ${step}
)
LIMIT ${maxChartRows + 1}`
}
