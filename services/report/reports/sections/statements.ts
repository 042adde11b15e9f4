import type { HostReport, ReportedPattern, StatementTotals } from '#proto/host-report.ts'
import { type ReportRow, reportSteps } from '#proto/report-rows.ts'
import type { Period } from '../material.ts'

type Totals = ReportRow<'statement-totals'>
type Pattern = ReportRow<'patterns'>

const none: StatementTotals = { calls: 0, errors: 0, totalMs: 0, p50Ms: null, p95Ms: null, peakMemoryBytes: null }

/** Statements of both periods; a period before of which the log has nothing is none. */
export const statementsOf = (rows: readonly Totals[]): HostReport['statements'] => {
  const [now, before] = [0, 1].map((isBefore) => rows.find((row) => row.isBefore === isBefore))
  const figures = ({ isBefore: _isBefore, ...totals }: Totals): StatementTotals => totals
  return { now: now ? figures(now) : none, before: before ? figures(before) : null }
}

/** The course of a period, a point for each step, also where nothing ended. */
export const courseOf = (
  rows: readonly ReportRow<'statement-steps'>[],
  { fromMs, toMs }: Period,
): HostReport['course'] => {
  const steps = new Map(rows.map(({ step, ...figures }) => [step, figures]))
  const quiet = { calls: 0, errors: 0, p95Ms: null, peakMemoryBytes: null }
  return Array.from({ length: reportSteps }, (_, step) => ({
    atMs: Math.round(fromMs + (step * (toMs - fromMs)) / reportSteps),
    ...(steps.get(step) ?? quiet),
  }))
}

const leastCalls = 20
const leastMs = 50
const ratio = 1.5
const mostTold = 5

/** Patterns that take longer than in the period before, those first that this costs the most time. */
export const regressionsOf = (rows: readonly Pattern[]): ReportedPattern[] =>
  costliest(rows, ({ calls, p95Ms, p95MsBefore }) => (isWorse(p95Ms, p95MsBefore) ? calls * (p95Ms - p95MsBefore) : 0))

/** Patterns that take less time than in the period before, those first that this saves the most. */
export const improvementsOf = (rows: readonly Pattern[]): ReportedPattern[] =>
  costliest(rows, ({ calls, p95Ms, p95MsBefore }) => (isWorse(p95MsBefore, p95Ms) ? calls * (p95MsBefore - p95Ms) : 0))

type Compared = Pattern & { p95Ms: number; p95MsBefore: number }

const isWorse = (after: number, before: number): boolean => after >= ratio * before && after - before >= leastMs

const isCompared = (row: Pattern): row is Compared =>
  row.calls >= leastCalls && row.callsBefore >= leastCalls && row.p95Ms !== null && row.p95MsBefore !== null

const costliest = (rows: readonly Pattern[], weigh: (row: Compared) => number): ReportedPattern[] =>
  rows
    .filter(isCompared)
    .filter((row) => weigh(row) > 0)
    .toSorted((one, other) => weigh(other) - weigh(one) || one.hash.localeCompare(other.hash, 'en'))
    .slice(0, mostTold)
    .map(reported)

/** Patterns that did not run in the period before, those of the most time first. */
export const newPatternsOf = (rows: readonly Pattern[]): ReportedPattern[] =>
  rows
    .filter(({ calls, callsBefore }) => calls > 0 && callsBefore === 0)
    .toSorted((one, other) => other.totalMs - one.totalMs || one.hash.localeCompare(other.hash, 'en'))
    .slice(0, mostTold)
    .map(reported)

const reported = ({ totalMs, totalMsBefore, allMs, allMsBefore, ...row }: Pattern): ReportedPattern => ({
  ...row,
  share: allMs > 0 ? totalMs / allMs : null,
  shareBefore: allMsBefore > 0 ? totalMsBefore / allMsBefore : null,
})

const mostCodes = 10

/** Codes of failed statements, the most frequent first. */
export const errorCodesOf = (rows: readonly ReportRow<'error-codes'>[]): HostReport['errorCodes'] =>
  rows
    .filter(({ count }) => count > 0)
    .toSorted((one, other) => other.count - one.count || one.code - other.code)
    .slice(0, mostCodes)
