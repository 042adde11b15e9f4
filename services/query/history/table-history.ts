import { z } from 'zod'
import { type CallContext, requireFeature } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { HistoryPart } from '#proto/history.ts'
import { hasLookbackWindow, lookbackParameter } from '#proto/lookback.ts'
import type { TableRequest } from '#proto/query.ts'
import type { LoadedTable } from '../definitions/load.ts'
import { resolveZone } from '../definitions/parameters.ts'
import { buildTableStatement } from '../definitions/table-statement.ts'
import { resolveTableWindow } from '../definitions/window.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { findHistorySql, type HistorySql, historyVersion } from './history-sql.ts'
import { readLastSampleMs } from './last-sample.ts'
import { findLogStartMs, isUnreachable, recentMs } from './log-start.ts'
import { explainMissingHistory } from './missing-history.ts'
import { buildRecordedLogs } from './recorded-logs.ts'

/** A request for a table page with everything that is needed to answer it from the history. */
interface HistoryPageRequest {
  parts: QueryHandlerDeps
  host: MonitoredHost
  table: LoadedTable
  request: TableRequest
  /** The maximum number of rows; undefined without a limit. */
  limit: number | undefined
  call: CallContext
}

/** The rows of a table page from the history. */
export interface HistoryPage {
  rows: readonly Record<string, unknown>[]
  history: HistoryPart
}

const Row = z.record(z.string(), z.unknown())

/**
 * Reads a table page from its host with `run`, or from the history: if the range begins before the log of the host, or
 * if the host is unreachable.
 */
export const readTableOrHistory = async <T>(
  request: HistoryPageRequest,
  run: () => Promise<T>,
): Promise<T | HistoryPage> => {
  const { parts, host, table } = request
  if (!parts.history.isEnabled || host.connect !== undefined || !hasLookbackWindow(table)) return run()
  const source = findHistorySql(table, request.request.parameters)
  try {
    const isEarlier = source !== undefined && (await beginsBeforeLog(request, source))
    return isEarlier ? await readPage(request, source, 'log-start').catch(run) : await run()
  } catch (error) {
    if (!isUnreachable(error)) throw error
    const page = source && (await readPage(request, source, 'host-unreachable').catch(() => undefined))
    if (page) return page
    throw explainMissingHistory('table', table.name, error)
  }
}

const beginsBeforeLog = async (request: HistoryPageRequest, { log }: HistorySql): Promise<boolean> => {
  const { fromMs } = readRange(request)
  if (request.parts.clock.now() - fromMs < recentMs) return false
  const startMs = await findLogStartMs(request, log)
  return startMs !== undefined && startMs > fromMs + recentMs
}

/** Returns the requested range in epoch milliseconds. */
const readRange = ({ parts, host, table, request }: HistoryPageRequest): { fromMs: number; toMs: number } => {
  const { from, to, lastMinutes, lastHours, parameters } = request
  const toMs = to === undefined ? parts.clock.now() + parts.probe.skewMs(host.key) : to * 1_000
  const usual = table.parameters.find(({ name }) => name === lookbackParameter)?.default
  const minutes = lastMinutes ?? 60 * Number(lastHours ?? parameters[lookbackParameter] ?? usual)
  return { fromMs: from === undefined ? toMs - minutes * 60_000 : from * 1_000, toMs }
}

const readPage = async (
  page: HistoryPageRequest,
  { sql }: HistorySql,
  reason: HistoryPart['reason'],
): Promise<HistoryPage> => {
  const { parts, host, table, request, limit, call } = page
  requireFeature(call.identity, table.feature, `the table page ${table.name}`)
  const { fromMs, toMs } = readRange(page)
  const range = { from: Math.floor(fromMs / 1_000), to: Math.floor(toMs / 1_000) }
  const window = resolveTableWindow(table, range)
  if (!window) throw new ServiceError('unavailable', `table page "${table.name}" has no history`)
  const { logTime: _logTime, ...recorded } = { ...table, sql }
  const statement = buildTableStatement(
    recorded,
    { ...request, ...range },
    {
      serverVersion: historyVersion,
      logs: buildRecordedLogs(sql, host, window),
      zone: resolveZone(request.timezone, parts.env) ?? parts.probe.known(host.key).timezone ?? undefined,
      limit,
    },
  )
  const lastSampleMs = await readLastSampleMs(parts, host.key)
  if (!statement || lastSampleMs === null) throw new ServiceError('unavailable', `host ${host.name} has no history`)
  const rows = await parts.history.select(statement.sql, Row, statement.parameters)
  return { rows, history: { reason, fromMs, toMs: Math.min(toMs, lastSampleMs), lastSampleMs } }
}
