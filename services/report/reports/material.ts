import { Temporal } from 'temporal-polyfill'
import type { z } from 'zod'
import type { HistoryEntry, Silence } from '#proto/alert-history.ts'
import type { AlertCheck } from '#proto/alerting.ts'
import type { Delivered } from '#proto/delivery.ts'
import type { HostReport } from '#proto/host-report.ts'
import type { InsightRow } from '#proto/insight-rows.ts'
import type { Insight } from '#proto/insights.ts'
import type { ReportRow, ReportRowSet } from '#proto/report-rows.ts'

/** Rows by set; a set that could not be told is not there. */
export type ReportRows = { readonly [S in ReportRowSet]?: readonly ReportRow<S>[] }

/** All that a report is made of. What could not be told is undefined, and `notes` say why. */
export interface Material {
  period: Period
  writtenAtMs: number
  rows: ReportRows
  tables: readonly InsightRow<'tables'>[] | undefined
  mutations: readonly InsightRow<'mutations'>[] | undefined
  settings: readonly InsightRow<'settings'>[] | undefined
  version: string | undefined
  /** Lines of the period. */
  history: readonly HistoryEntry[] | undefined
  acknowledged: readonly Silence[]
  checks: readonly z.infer<typeof AlertCheck>[] | undefined
  /** Deliveries of the period that were given up. */
  undelivered: readonly Delivered[] | undefined
  insights: readonly Insight[]
  /** Of the week before. */
  before: HostReport | undefined
  notes: string[]
}

/** A half-open span of time. */
export interface Period {
  fromMs: number
  toMs: number
}

/** A week that begins on Monday at midnight, named as ISO 8601 does. */
export interface Week extends Period {
  name: string
}

/** The last week that is over in a zone; it has an hour more or less where clocks were turned. */
export const lastWeek = (nowMs: number, zone: string): Week => {
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(zone).toPlainDate()
  const monday = today.subtract({ days: today.dayOfWeek - 1 })
  const begins = monday.subtract({ weeks: 1 })
  const startOf = (date: Temporal.PlainDate): number => date.toZonedDateTime(zone).epochMilliseconds
  const week = String(begins.weekOfYear ?? 0).padStart(2, '0')
  return { name: `${begins.yearOfWeek}-W${week}`, fromMs: startOf(begins), toMs: startOf(monday) }
}
