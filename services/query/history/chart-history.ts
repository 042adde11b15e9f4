import { z } from 'zod'
import { type CallContext, requireFeature } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { HistoryPart } from '#proto/history.ts'
import type { ChartData } from '#proto/query.ts'
import type { Interval } from '#proto/catalogue.ts'
import type { TimeWindow } from '#proto/time-window.ts'
import { buildChartStatement } from '../definitions/chart-statement.ts'
import { toChartInfo } from '../definitions/definitions.ts'
import type { LoadedChart } from '../definitions/load.ts'
import { type ParameterValues, resolveZone } from '../definitions/parameters.ts'
import {
  buckets,
  type ChartWindow,
  longerInterval,
  resolveChartWindow,
  toResponseWindow,
} from '../definitions/window.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { HistoryRetention } from './settings.ts'
import { findHistorySql, type HistorySql, historyVersion } from './history-sql.ts'
import { readGaps } from './gaps.ts'
import { readLastSampleMs } from './last-sample.ts'
import { findLogStartMs, isUnreachable, recentMs } from './log-start.ts'
import { explainMissingHistory } from './missing-history.ts'
import { buildRecordedLogs } from './recorded-logs.ts'

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

const dayMs = 86_400_000

const ChartRows = z.looseObject({})

/** Reads a chart for a window from the history. */
const readChart = async (
  { parts, host, chart, question }: HistoryRequest,
  sql: string,
  window: ChartWindow,
): Promise<Record<string, unknown>[]> => {
  const zone = resolveZone(question.timezone, parts.env) ?? parts.probe.known(host.key).timezone ?? undefined
  const circumstances = { serverVersion: historyVersion, logs: buildRecordedLogs(sql, host, window), window, zone }
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

/**
 * Runs a chart on its host. Adds what the log of the host no longer contains, or reads all of it from the history if
 * the host is unreachable. `run` may be called with a longer interval than the requested one.
 */
export const addChartHistory = async (
  request: HistoryRequest,
  run: (question: ChartRequest) => Promise<ChartData>,
): Promise<ChartData> => {
  const { chart, question } = request
  const window = canUseHistory(request) ? resolveWindow(request) : undefined
  if (!window) return run(question)
  const source = findHistorySql(chart, question.parameters)
  try {
    const start = source && (await findEarlierPart(request, source, window))
    if (!source || start === undefined) return await run(question)
    // Totals per bucket are split by the host only, so buckets cannot be shorter than the rows of the history.
    const coarser = coarsenQuestion(request, window)
    return await addEarlierRows({ ...request, question: coarser }, source, start, await run(coarser))
  } catch (error) {
    if (!isUnreachable(error)) throw error
    // Without history, the failure of the host is reported.
    return readWholeChart(request, source, 'host-unreachable').catch(() =>
      Promise.reject(explainMissingHistory('chart', chart.name, error)),
    )
  }
}

const canUseHistory = ({ parts, host, chart }: HistoryRequest): boolean =>
  parts.history.isEnabled && host.connect === undefined && chart.kind !== 'timeline'

const resolveWindow = ({ parts, host, chart, question }: HistoryRequest): ChartWindow | undefined =>
  resolveChartWindow(chart, question, parts.clock.now() + parts.probe.skewMs(host.key))

/** Returns when the log of the host begins, if the window begins earlier, in epoch milliseconds. */
const findEarlierPart = async (
  request: HistoryRequest,
  { log }: HistorySql,
  window: ChartWindow,
): Promise<number | undefined> => {
  if (request.parts.clock.now() - window.fromMs < recentMs) return undefined
  const startMs = await findLogStartMs(request, log)
  const bucketMs = window.interval === undefined ? recentMs : buckets[window.interval].seconds * 1_000
  return startMs !== undefined && startMs > window.fromMs + bucketMs ? startMs : undefined
}

/** Returns the request with an interval that is at least as long as that of the oldest rows of the history. */
const coarsenQuestion = ({ parts, question }: HistoryRequest, window: ChartWindow): ChartRequest => {
  const { interval, fromMs } = window
  if (interval === undefined) return question
  const stored = findStoredInterval(parts.history.retention, parts.clock.now() - fromMs)
  return { ...question, interval: longerInterval(interval, stored) }
}

/** Returns the interval in which the history has rows of this age. */
const findStoredInterval = ({ rawDays, fiveMinuteDays }: HistoryRetention, ageMs: number): Interval => {
  if (ageMs > fiveMinuteDays * dayMs) return 'toStartOfHour'
  return ageMs > rawDays * dayMs ? 'toStartOfFiveMinutes' : 'toStartOfMinute'
}

const readWholeChart = async (
  request: HistoryRequest,
  source: HistorySql | undefined,
  reason: HistoryPart['reason'],
): Promise<ChartData> => {
  const { parts, host, chart, call } = request
  requireFeature(call.identity, chart.feature, `the chart ${chart.name}`)
  const requested = resolveWindow(request)
  if (!requested || !source) throw new ServiceError('unavailable', `chart "${chart.name}" has no history`)
  const question = coarsenQuestion(request, requested)
  const window = resolveWindow({ ...request, question }) ?? requested
  const [rows, lastSampleMs, gaps] = await Promise.all([
    readChart({ ...request, question }, source.sql, toWindow(window, window.fromMs, window.toMs)),
    readLastSampleMs(parts, host.key),
    readGaps(parts, host.key, source.log, window),
  ])
  if (lastSampleMs === null) throw new ServiceError('unavailable', `host ${host.name} has no history`)
  const { fromMs, toMs } = window
  const history: HistoryPart = { reason, fromMs, toMs: Math.min(toMs, lastSampleMs), lastSampleMs, gaps }
  const time = timeColumn(chart)
  return {
    chart: toChartInfo(chart),
    rows: time === undefined ? rows : rows.filter((row) => Number(row[time]) <= lastSampleMs),
    window: toResponseWindow(window),
    unavailable: null,
    statement: null,
    history,
  }
}

const timeColumn = ({ columns }: LoadedChart): string | undefined => columns.find(({ role }) => role === 'time')?.name

const addEarlierRows = async (
  request: HistoryRequest,
  source: HistorySql,
  startMs: number,
  data: ChartData,
): Promise<ChartData> => {
  const window = resolveWindow(request)
  if (!window || data.unavailable) return data
  const time = timeColumn(request.chart)
  try {
    // Totals of two sources cannot be combined, so all of them are those of the history.
    if (time === undefined) return { ...(await readWholeChart(request, source, 'log-start')), chart: data.chart }
    const bucketMs = (data.window?.bucketSeconds ?? 0) * 1_000
    const times = data.rows.map((row) => Number(row[time])).filter((at) => at >= startMs)
    const toMs = Math.min(window.toMs, times.length > 0 ? Math.min(...times) : startMs + bucketMs)
    const earlier = await readChart(request, source.sql, toWindow(window, window.fromMs, toMs))
    const rows = [
      ...earlier.filter((row) => Number(row[time]) < toMs),
      ...data.rows.filter((row) => Number(row[time]) >= toMs),
    ]
    const part = { fromMs: window.fromMs, toMs }
    const gaps = await readGaps(request.parts, request.host.key, source.log, part)
    const history: HistoryPart = { reason: 'log-start', ...part, lastSampleMs: toMs, gaps }
    return { ...data, rows, history }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return data
  }
}
