import { z } from 'zod'
import type { HistoryEntry } from '#proto/alert-history.ts'
import { maxHistoryLines } from '#proto/alerting.ts'
import type { alerts } from '#proto/alerts.ts'
import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { HostReport } from '#proto/host-report.ts'
import { type InsightRowSet, insightRowSets } from '#proto/insight-rows.ts'
import type { query } from '#proto/query.ts'
import { type ReportRowSet, reportRowSets } from '#proto/report-rows.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { InsightStore } from '../stores/store.ts'
import type { Material, ReportRows, Period } from './material.ts'
import { type About, writeReport } from './write-report.ts'

/** Whom reports are made from. */
export interface Sources {
  query: Client<typeof query>
  alerts: Client<typeof alerts>
  insights: InsightStore
  clock: Clock
}

interface Asked {
  about: About
  period: Period
  before: HostReport | undefined
}

/** Gathers and writes one report; keeps nothing. */
export const build = async (sources: Sources, { about, period, before }: Asked, call: Call): Promise<HostReport> => {
  const { query, alerts, insights, clock } = sources
  const asking = { ...call, priority: 'report' as const }
  const { hostKey } = about
  const gathered = { query, alerts, insights, call: asking, hostKey, period, nowMs: clock.now(), before }
  return writeReport(about, await gather(gathered))
}

/** Whom to ask about which host and period. */
interface Gathering {
  query: Client<typeof query>
  alerts: Client<typeof alerts>
  insights: InsightStore
  call: Call
  hostKey: string
  period: Period
  nowMs: number
  before: HostReport | undefined
}

const mostInsights = 500
const mostDeliveries = 500
/** An alert that fires all week has more lines than these only where it flaps, which the first of them tell. */
const mostHistoryPages = 25

// Keys of an object literal are exactly the keys of its type.
const reportSets = Object.keys(reportRowSets) as ReportRowSet[]

/**
 * Asks for everything that a report is made of, the host one statement after another. What fails becomes a note; only a host of
 * which nothing can be told at all has no report.
 */
const gather = async (gathering: Gathering): Promise<Material> => {
  const { query, alerts, insights, call, hostKey, period, nowMs, before } = gathering
  const notes: string[] = []
  let failure: unknown
  /** What was told, undefined and a note where it was not. */
  const attempt = async <T>(what: string, ask: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      failure = error
      notes.push(`${what}: ${error.message}`)
      return undefined
    }
  }
  const rows: Partial<Record<ReportRowSet, unknown>> = {}
  for (const set of reportSets) {
    const asked = { hostKey, set, ...period }
    const answer = await attempt(wordsOf(set), () => query.reportRows(asked, call))
    if (answer?.unavailable) notes.push(`${wordsOf(set)}: ${answer.unavailable.message}`)
    else if (answer) rows[set] = z.array(reportRowSets[set]).parse(answer.rows)
  }
  if (failure !== undefined && Object.keys(rows).length === 0) throw failure
  const present = async <S extends InsightRowSet>(set: S) => {
    const answer = await attempt(wordsOf(set), () => query.insightRows({ hostKey, set }, call))
    if (answer?.unavailable) notes.push(`${wordsOf(set)}: ${answer.unavailable.message}`)
    return answer && !answer.unavailable ? z.array(insightRowSets[set]).parse(answer.rows) : undefined
  }
  const filter = { hostKey, sinceMs: period.fromMs, limit: mostInsights }
  return {
    period,
    writtenAtMs: nowMs,
    // Each set stands under its name, checked against its own schema.
    rows: rows as ReportRows,
    tables: await present('tables'),
    mutations: await present('mutations'),
    settings: await present('settings'),
    version: (await attempt('version', () => query.hostStatus({ hostKey }, call)))?.version,
    history: await attempt('alerts', () => historyOf(gathering)),
    acknowledged: (await attempt('acknowledgements', () => alerts.silences({}, call))) ?? [],
    checks: await attempt('rules', () => alerts.alertChecks({ hostKey }, call)),
    undelivered: await attempt('deliveries', () => undeliveredOf(gathering)),
    insights: (await attempt('insights', () => insights.list(filter, call))) ?? [],
    before,
    notes,
  }
}

const wordsOf = (set: string): string => set.replaceAll('-', ' ')

/** All lines of the period, page by page backwards in time. */
const historyOf = async ({ alerts, call, hostKey, period: { fromMs, toMs } }: Gathering): Promise<HistoryEntry[]> => {
  const lines = new Map<string, HistoryEntry>()
  let until = toMs
  for (let page = 0; page < mostHistoryPages; page++) {
    const found = await alerts.alertHistory({ hostKey, fromMs, toMs: until, limit: maxHistoryLines }, call)
    for (const line of found) lines.set(line.id, line)
    const oldest = found.at(-1)
    if (!oldest || found.length < maxHistoryLines) break
    // Lines of the same millisecond may have been cut off; asking up to it again cannot go on for ever.
    until = Math.min(until - 1, oldest.atMs + 1)
  }
  return [...lines.values()].toSorted((one, other) => one.atMs - other.atMs)
}

const undeliveredOf = async ({ alerts, call, hostKey, period }: Gathering) => {
  const dead = await alerts.deliveries({ result: 'dead', beforeMs: period.toMs, limit: mostDeliveries }, call)
  return dead.filter((delivered) => delivered.hostKey === hostKey && delivered.atMs >= period.fromMs)
}
