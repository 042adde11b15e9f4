import { z } from 'zod'
import type { AlertHistoryEntry } from '#proto/alert-history.ts'
import { maxAlertHistoryEntries } from '#proto/alerting.ts'
import type { alerts } from '#proto/alerts.ts'
import type { CallContext } from '#proto/call.ts'
import type { ServiceClient } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { HostReport } from '#proto/host-report.ts'
import { type InsightRowSet, insightRowSets } from '#proto/insight-rows.ts'
import type { query } from '#proto/query.ts'
import { type ReportRowSet, reportRowSets } from '#proto/report-rows.ts'
import type { IncompleteReason } from '#proto/unavailable-reason.ts'
import type { Store } from '#shared/store/store.ts'
import type { Clock } from '#shared/time/clock.ts'
import { readDiskRecords } from '../insights/forecast-records.ts'
import type { InsightStore } from '../stores/store.ts'
import type { ReportData, ReportRows, ReportTimeRange } from './report-data.ts'
import { type ReportSubject, composeReport } from './write-report.ts'

/** The services and stores that provide the data of reports. */
export interface ReportSources {
  query: ServiceClient<typeof query>
  alerts: ServiceClient<typeof alerts>
  insights: InsightStore
  clock: Clock
  store: Store
}

interface ReportRequest {
  about: ReportSubject
  period: ReportTimeRange
  before: HostReport | undefined
}

/** Fetches the data of a report and returns the report without storing it. */
export const assembleReport = async (
  sources: ReportSources,
  { about, period, before }: ReportRequest,
  call: CallContext,
): Promise<HostReport> => {
  const { query, alerts, insights, clock, store } = sources
  const reportCall = { ...call, priority: 'report' as const }
  const { hostKey } = about
  const context = { query, alerts, insights, store, call: reportCall, hostKey, period, nowMs: clock.now(), before }
  return composeReport(about, await gatherReportData(context))
}

/** The clients, host and period for which the data of a report is fetched. */
interface GatherContext {
  query: ServiceClient<typeof query>
  alerts: ServiceClient<typeof alerts>
  insights: InsightStore
  store: Store
  call: CallContext
  hostKey: string
  period: ReportTimeRange
  nowMs: number
  before: HostReport | undefined
}

const maxInsights = 500
const maxDeliveries = 500
/** Maximum pages of alert history. Only flapping alerts cause more, and the fetched pages already show them. */
const maxHistoryPages = 25

// The keys of an object literal are exactly the keys of its type.
const reportSets = Object.keys(reportRowSets) as ReportRowSet[]

/**
 * Fetches the data of a report, one query after another. Adds a note for each failure. Throws the last error if the
 * host returned no row set at all.
 */
const gatherReportData = async (context: GatherContext): Promise<ReportData> => {
  const { query, alerts, insights, store, call, hostKey, period, nowMs, before } = context
  const notes: string[] = []
  let failure: unknown
  /** Sends a request. If it fails, adds a note and returns undefined. */
  const attempt = async <T>(what: string, request: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await request()
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      failure = error
      notes.push(`${what}: ${error.message}`)
      return undefined
    }
  }
  const rows: Partial<Record<ReportRowSet, unknown>> = {}
  for (const set of reportSets) {
    const response = await attempt(formatRowSetName(set), () => query.reportRows({ hostKey, set, ...period }, call))
    if (response?.incomplete) notes.push(formatIncompleteNote(set, response.incomplete))
    if (response?.unavailable) notes.push(`${formatRowSetName(set)}: ${response.unavailable.message}`)
    else if (response) rows[set] = z.array(reportRowSets[set]).parse(response.rows)
  }
  if (failure !== undefined && Object.keys(rows).length === 0) throw failure
  const currentRows = async <S extends InsightRowSet>(set: S) => {
    const response = await attempt(formatRowSetName(set), () => query.insightRows({ hostKey, set }, call))
    if (response?.incomplete) notes.push(formatIncompleteNote(set, response.incomplete))
    if (response?.unavailable) notes.push(`${formatRowSetName(set)}: ${response.unavailable.message}`)
    return response && !response.unavailable ? z.array(insightRowSets[set]).parse(response.rows) : undefined
  }
  const filter = { hostKey, sinceMs: period.fromMs, limit: maxInsights }
  return {
    period,
    writtenAtMs: nowMs,
    // The cast is safe, because each row set was validated against its own schema.
    rows: rows as ReportRows,
    tables: await currentRows('tables'),
    mutations: await currentRows('mutations'),
    settings: await currentRows('settings'),
    version: (await attempt('version', () => query.hostStatus({ hostKey }, call)))?.version,
    history: await attempt('alerts', () => fetchHistory(context)),
    acknowledged: (await attempt('acknowledgements', () => alerts.silences({}, call))) ?? [],
    checks: await attempt('rules', () => alerts.alertChecks({ hostKey }, call)),
    undelivered: await attempt('deliveries', () => fetchFailedDeliveries(context)),
    insights: (await attempt('insights', () => insights.list(filter, call))) ?? [],
    recordOfDisk: await readDiskRecords(store, hostKey),
    before,
    notes,
  }
}

const formatRowSetName = (set: string): string => set.replaceAll('-', ' ')

const formatIncompleteNote = (set: string, { message, grant }: IncompleteReason): string =>
  `${formatRowSetName(set)} is incomplete: ${message}; to see them, run ${grant}`

/** Fetches all history lines of the period, newest page first. */
const fetchHistory = async ({
  alerts,
  call,
  hostKey,
  period: { fromMs, toMs },
}: GatherContext): Promise<AlertHistoryEntry[]> => {
  const lines = new Map<string, AlertHistoryEntry>()
  let until = toMs
  for (let page = 0; page < maxHistoryPages; page++) {
    const found = await alerts.alertHistory({ hostKey, fromMs, toMs: until, limit: maxAlertHistoryEntries }, call)
    for (const line of found) lines.set(line.id, line)
    const oldest = found.at(-1)
    if (!oldest || found.length < maxAlertHistoryEntries) break
    // The page may lack lines of the oldest millisecond, so the next page includes it again. `until` always decreases.
    until = Math.min(until - 1, oldest.atMs + 1)
  }
  return [...lines.values()].toSorted((one, other) => one.atMs - other.atMs)
}

const fetchFailedDeliveries = async ({ alerts, call, hostKey, period }: GatherContext) => {
  const dead = await alerts.deliveries({ result: 'dead', beforeMs: period.toMs, limit: maxDeliveries }, call)
  return dead.filter((delivery) => delivery.hostKey === hostKey && delivery.atMs >= period.fromMs)
}
