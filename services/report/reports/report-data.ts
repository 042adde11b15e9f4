import { Temporal } from 'temporal-polyfill'
import type { z } from 'zod'
import type { AlertHistoryEntry, Silence } from '#proto/alert-history.ts'
import type { AlertCheck } from '#proto/alerting.ts'
import type { CompletedDelivery } from '#proto/delivery.ts'
import type { HostReport } from '#proto/host-report.ts'
import type { InsightRow } from '#proto/insight-rows.ts'
import type { Insight } from '#proto/insights.ts'
import type { ReportRow, ReportRowSet } from '#proto/report-rows.ts'

/** The rows of a report by row set. Row sets that could not be fetched are missing. */
export type ReportRows = { readonly [S in ReportRowSet]?: readonly ReportRow<S>[] }

/**
 * The data from which a report is written. Fields are undefined if their data could not be fetched; `notes` contains
 * the reasons.
 */
export interface ReportData {
  period: ReportTimeRange
  writtenAtMs: number
  rows: ReportRows
  tables: readonly InsightRow<'tables'>[] | undefined
  mutations: readonly InsightRow<'mutations'>[] | undefined
  settings: readonly InsightRow<'settings'>[] | undefined
  version: string | undefined
  /** Alert history of the period. */
  history: readonly AlertHistoryEntry[] | undefined
  acknowledged: readonly Silence[]
  checks: readonly z.infer<typeof AlertCheck>[] | undefined
  /** Failed deliveries of the period. */
  undelivered: readonly CompletedDelivery[] | undefined
  insights: readonly Insight[]
  /** Returns how good earlier forecasts of a disk were, in words; empty if that is unknown. */
  recordOfDisk: (disk: string) => string
  /** The report of the previous week. */
  before: HostReport | undefined
  notes: string[]
}

/** A time range; `toMs` is exclusive. */
export interface ReportTimeRange {
  fromMs: number
  toMs: number
}

/** A week that begins on Monday at midnight, with its ISO 8601 name. */
export interface ReportWeek extends ReportTimeRange {
  name: string
}

/** Returns the last full week in a time zone. Weeks with a daylight-saving change do not have 168 hours. */
export const findLastWeek = (nowMs: number, zone: string): ReportWeek => {
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(zone).toPlainDate()
  const monday = today.subtract({ days: today.dayOfWeek - 1 })
  const begins = monday.subtract({ weeks: 1 })
  const startOf = (date: Temporal.PlainDate): number => date.toZonedDateTime(zone).epochMilliseconds
  const week = String(begins.weekOfYear ?? 0).padStart(2, '0')
  return { name: `${begins.yearOfWeek}-W${week}`, fromMs: startOf(begins), toMs: startOf(monday) }
}
