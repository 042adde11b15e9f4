import { z } from 'zod'
import { type CallContext, requireFeature } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { ChartHistory } from '#proto/history.ts'
import type { ChartData } from '#proto/query.ts'
import { quoteText } from '#shared/sql/statement-text.ts'
import { selectSqlBranch } from '../clickhouse/capabilities.ts'
import { findFailureReason } from '../clickhouse/failure.ts'
import { buildChartStatement } from '../definitions/chart-statement.ts'
import { toChartInfo } from '../definitions/definitions.ts'
import type { LoadedChart } from '../definitions/load.ts'
import { type ParameterValues, resolveZone } from '../definitions/parameters.ts'
import { type ChartWindow, resolveChartWindow, toResponseWindow } from '../definitions/window.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { TimeWindow } from '#proto/time-window.ts'
import { asynchronousPrefix } from './sources.ts'
import { readLogStart } from './record-host.ts'

interface ChartRequest extends TimeWindow {
  parameters: ParameterValues
}

/** A chart request with everything that is needed to answer it from the history. */
interface HistoryRequest {
  parts: QueryHandlerDeps
  host: MonitoredHost
  chart: LoadedChart
  question: ChartRequest
  call: CallContext
}

/** The history speaks the SQL of this version. */
const newestVersion = '99.12'
/** Windows that begin later than this are within the logs of a host, unless it was created since. */
const recentMs = 3_600_000
const logStartLifetimeMs = 600_000

/** The log of a host that a chart reads, and the SQL that reads the same from the history; undefined without one. */
const findHistorySql = (chart: LoadedChart, { parameters }: ChartRequest): { log: string; sql: string } | undefined => {
  if (chart.interval === undefined) return undefined
  // Patterns are recorded without users, databases and clients of single queries.
  const isFiltered = Object.entries(parameters).some(([name, value]) => name !== 'own' && value !== '')
  if (chart.history !== undefined) return isFiltered ? undefined : { log: 'query_log', sql: chart.history }
  const sql = selectSqlBranch(chart.sql, newestVersion)
  const [log, ...others] = new Set([...(sql ?? '').matchAll(/\$log\((\w+)\)/g)].map(([, name = '']) => name))
  if (sql === undefined || others.length > 0 || /\bsystem\./.test(sql)) return undefined
  if (log === 'metric_log') return { log, sql: rewriteMetricLog(sql) }
  return log === 'asynchronous_metric_log' ? { log, sql: rewriteAsynchronousLog(sql) } : undefined
}

/** The history has one row per minute instead of one per second, and separate columns for maxima. */
const rewriteMetricLog = (sql: string): string =>
  sql
    .replaceAll('uniqExact(event_time)', 'sum(seconds)')
    .replaceAll(/\b(max\w*)\((CurrentMetric_\w+)\)/g, '$1($2_highest)')

const rewriteAsynchronousLog = (sql: string): string => sql.replaceAll(/\b(max\w*)\(value\b/g, '$1(highest')

/** Returns the table expressions that stand for the logs in the SQL of a chart. */
const historyLogs = (sql: string, { key }: MonitoredHost, { since, until }: ChartWindow): Map<string, string> => {
  const rows = (table: string, condition: string) =>
    `{table:${table}} AS recorded WHERE host = ${quoteText(key)} AND ${condition} AND time >= toStartOfHour(${since}) AND time < ${until}`
  const clock = 'toDateTime(toUnixTimestamp(time)) AS event_time, toDate(event_time) AS event_date'
  const names = [...new Set([...sql.matchAll(/\b(?:CurrentMetric|ProfileEvent)_\w+/g)].map(([name]) => name))]
  const metrics = names.map((name) => name.replace(/_highest$/, ''))
  const columns = names.map((name) => {
    const isMetric = `metric = ${quoteText(name.replace(/_highest$/, ''))}`
    if (name.endsWith('_highest')) return `maxOrNullIf(highest, ${isMetric}) AS ${name}`
    if (name.startsWith('ProfileEvent_')) return `sumIf(sum, ${isMetric}) AS ${name}`
    return `sumOrNullIf(sum, ${isMetric}) / nullIf(sumIf(count, ${isMetric}), 0) AS ${name}`
  })
  const isListed = `metric IN (${metrics.map(quoteText).join(', ')})`
  const isAsynchronous = `startsWith(recorded.metric, ${quoteText(asynchronousPrefix)})`
  return new Map([
    [
      'metric_log',
      `(SELECT ${[clock, 'max(count) AS seconds', ...columns].join(', ')} FROM ${rows('samples', isListed)} GROUP BY time)`,
    ],
    [
      'asynchronous_metric_log',
      `(SELECT ${clock}, substring(recorded.metric, ${asynchronousPrefix.length + 1}) AS metric, sum / count AS value, highest FROM ${rows('samples', isAsynchronous)})`,
    ],
    ['query_patterns', `(SELECT ${clock}, * FROM ${rows('query_patterns', "kind != ''")})`],
  ])
}

const ChartRows = z.looseObject({})

/** Reads a chart for a window from the history. */
const readChart = async (
  { parts, host, chart, question }: HistoryRequest,
  sql: string,
  window: ChartWindow,
): Promise<Record<string, unknown>[]> => {
  const zone = resolveZone(question.timezone, parts.env) ?? parts.probe.known(host.key).timezone ?? undefined
  const circumstances = { serverVersion: newestVersion, logs: historyLogs(sql, host, window), window, zone }
  const { parameters } = question
  const statement = buildChartStatement({ ...chart, sql }, { ...circumstances, parameters })
  return statement ? parts.history.select(statement.sql, ChartRows, statement.parameters) : []
}

const toWindow = (window: ChartWindow, fromMs: number, toMs: number): ChartWindow => ({
  ...window,
  fromMs,
  toMs,
  since: `toDateTime(${Math.floor(fromMs / 1_000)})`,
  until: `toDateTime(${Math.ceil(toMs / 1_000)})`,
})

const LastSample = z.object({ until: z.number().nullable() })

/** Returns the end of the recorded samples of a host in epoch milliseconds of its clock; null without samples. */
export const readLastSampleMs = async ({ history }: QueryHandlerDeps, hostKey: string): Promise<number | null> => {
  const sql = `SELECT toUnixTimestamp(max(until)) AS until FROM {table:samples} WHERE host = {host:String} AND metric = '' AND label = 'metrics'`
  const [row] = await history.select(sql, LastSample, { host: hostKey })
  return row?.until ? row.until * 1_000 : null
}

/** Runs a chart on its host. Adds what the log of the host no longer contains, or all of it if the host is unreachable. */
export const addChartHistory = async (request: HistoryRequest, run: () => Promise<ChartData>): Promise<ChartData> => {
  const source = canUseHistory(request) ? findHistorySql(request.chart, request.question) : undefined
  if (!source) return run()
  try {
    return await addEarlierRows(request, source, await run())
  } catch (error) {
    if (!isUnreachable(error)) throw error
    // Without history, the failure of the host is reported.
    return readWholeChart(request, source.sql).catch(() => Promise.reject(error))
  }
}

const canUseHistory = ({ parts, host }: HistoryRequest): boolean =>
  parts.history.isEnabled && host.connect === undefined

const isUnreachable = (error: unknown): boolean => ['unreachable', 'timeout'].includes(findFailureReason(error) ?? '')

const readWholeChart = async (request: HistoryRequest, sql: string): Promise<ChartData> => {
  const { parts, host, chart, question, call } = request
  requireFeature(call.identity, chart.feature, `the chart ${chart.name}`)
  const window = resolveChartWindow(chart, question, parts.clock.now() + parts.probe.skewMs(host.key))
  if (!window) throw new ServiceError('unavailable', `chart "${chart.name}" has no history`)
  const [rows, lastSampleMs] = await Promise.all([
    readChart(request, sql, toWindow(window, window.fromMs, window.toMs)),
    readLastSampleMs(parts, host.key),
  ])
  if (lastSampleMs === null) throw new ServiceError('unavailable', `host ${host.name} has no history`)
  const { fromMs, toMs } = window
  const history: ChartHistory = { reason: 'host-unreachable', fromMs, toMs: Math.min(toMs, lastSampleMs), lastSampleMs }
  const time = timeColumn(chart)
  const recorded = rows.filter((row) => Number(row[time]) <= lastSampleMs)
  return {
    chart: toChartInfo(chart),
    rows: recorded,
    window: toResponseWindow(window),
    unavailable: null,
    statement: null,
    history,
  }
}

const timeColumn = ({ columns }: LoadedChart): string => columns.find(({ role }) => role === 'time')?.name ?? 'time'

const addEarlierRows = async (
  request: HistoryRequest,
  { log, sql }: { log: string; sql: string },
  data: ChartData,
): Promise<ChartData> => {
  const { parts, host, chart, question } = request
  const window = resolveChartWindow(chart, question, parts.clock.now() + parts.probe.skewMs(host.key))
  if (!window || data.unavailable || parts.clock.now() - window.fromMs < recentMs) return data
  const startMs = await findLogStartMs(request, log)
  const bucketMs = (data.window?.bucketSeconds ?? 0) * 1_000
  if (startMs === undefined || startMs <= window.fromMs + bucketMs) return data
  const time = timeColumn(chart)
  const times = data.rows.map((row) => Number(row[time])).filter((at) => at >= startMs)
  const toMs = Math.min(window.toMs, times.length > 0 ? Math.min(...times) : startMs + bucketMs)
  try {
    const earlier = await readChart(request, sql, toWindow(window, window.fromMs, toMs))
    const rows = [
      ...earlier.filter((row) => Number(row[time]) < toMs),
      ...data.rows.filter((row) => Number(row[time]) >= toMs),
    ]
    const history: ChartHistory = { reason: 'log-start', fromMs: window.fromMs, toMs, lastSampleMs: toMs }
    return { ...data, rows, history }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return data
  }
}

/** The start of each log by host. It changes only when the host deletes old rows. */
const logStarts = new WeakMap<MonitoredHost, Map<string, { atMs: number; startMs: number | undefined }>>()

const findLogStartMs = async ({ parts, host, call }: HistoryRequest, log: string): Promise<number | undefined> => {
  const known = logStarts.get(host) ?? new Map<string, { atMs: number; startMs: number | undefined }>()
  logStarts.set(host, known)
  const entry = known.get(log)
  const nowMs = parts.clock.elapsedMs()
  if (entry && nowMs - entry.atMs < logStartLifetimeMs) return entry.startMs
  const start = await readLogStart({ client: parts.client, host, call }, { log })
  const startMs = start === undefined ? undefined : start * 1_000
  known.set(log, { atMs: nowMs, startMs })
  return startMs
}
