import type { HostReport, ReportedPattern, StatementTotals } from '#proto/host-report.ts'
import { type ReportRow, reportStepCount } from '#proto/report-rows.ts'
import type { ReportTimeRange } from '../report-data.ts'

type Totals = ReportRow<'statement-totals'>
type Pattern = ReportRow<'patterns'>

const emptyTotals: StatementTotals = {
  calls: 0,
  errors: 0,
  totalMs: 0,
  p50Ms: null,
  p95Ms: null,
  peakMemoryBytes: null,
}

/** Returns the query totals of this and the previous period. `before` is null if the log does not cover the latter. */
export const summarizeStatements = (rows: readonly Totals[]): HostReport['statements'] => {
  const [now, before] = [0, 1].map((isBefore) => rows.find((row) => row.isBefore === isBefore))
  const figures = ({ isBefore: _isBefore, ...totals }: Totals): StatementTotals => totals
  return { now: now ? figures(now) : emptyTotals, before: before ? figures(before) : null }
}

/** Returns the query statistics of each time step of the period, including steps without queries. */
export const fillStatementSteps = (
  rows: readonly ReportRow<'statement-steps'>[],
  { fromMs, toMs }: ReportTimeRange,
): HostReport['course'] => {
  const steps = new Map(rows.map(({ step, ...figures }) => [step, figures]))
  const quiet = { calls: 0, errors: 0, p95Ms: null, peakMemoryBytes: null }
  return Array.from({ length: reportStepCount }, (_, step) => ({
    atMs: Math.round(fromMs + (step * (toMs - fromMs)) / reportStepCount),
    ...(steps.get(step) ?? quiet),
  }))
}

const minCalls = 20
const minMs = 50
const minChangeRatio = 1.5
const maxLines = 5

/** Returns the patterns that are slower than in the previous period, largest additional total time first. */
export const findRegressions = (rows: readonly Pattern[]): ReportedPattern[] =>
  selectCostliest(rows, ({ calls, p95Ms, p95MsBefore }) =>
    isMuchSlower(p95Ms, p95MsBefore) ? calls * (p95Ms - p95MsBefore) : 0,
  )

/** Returns the patterns that are faster than in the previous period, largest saved total time first. */
export const findImprovements = (rows: readonly Pattern[]): ReportedPattern[] =>
  selectCostliest(rows, ({ calls, p95Ms, p95MsBefore }) =>
    isMuchSlower(p95MsBefore, p95Ms) ? calls * (p95MsBefore - p95Ms) : 0,
  )

type ComparedPattern = Pattern & { p95Ms: number; p95MsBefore: number }

const isMuchSlower = (after: number, before: number): boolean =>
  after >= minChangeRatio * before && after - before >= minMs

const isInBothPeriods = (row: Pattern): row is ComparedPattern =>
  row.calls >= minCalls && row.callsBefore >= minCalls && row.p95Ms !== null && row.p95MsBefore !== null

const selectCostliest = (rows: readonly Pattern[], weigh: (row: ComparedPattern) => number): ReportedPattern[] =>
  rows
    .filter(isInBothPeriods)
    .filter((row) => weigh(row) > 0)
    .toSorted((one, other) => weigh(other) - weigh(one) || one.hash.localeCompare(other.hash, 'en'))
    .slice(0, maxLines)
    .map(toReportedPattern)

/** Returns the patterns that did not run in the previous period, longest total duration first. */
export const findNewPatterns = (rows: readonly Pattern[]): ReportedPattern[] =>
  rows
    .filter(({ calls, callsBefore }) => calls > 0 && callsBefore === 0)
    .toSorted((one, other) => other.totalMs - one.totalMs || one.hash.localeCompare(other.hash, 'en'))
    .slice(0, maxLines)
    .map(toReportedPattern)

const toReportedPattern = ({ totalMs, totalMsBefore, allMs, allMsBefore, ...row }: Pattern): ReportedPattern => ({
  ...row,
  share: allMs > 0 ? totalMs / allMs : null,
  shareBefore: allMsBefore > 0 ? totalMsBefore / allMsBefore : null,
})

const maxCodes = 10

/** Returns the error codes of failed queries, most frequent first. */
export const rankErrorCodes = (rows: readonly ReportRow<'error-codes'>[]): HostReport['errorCodes'] =>
  rows
    .filter(({ count }) => count > 0)
    .toSorted((one, other) => other.count - one.count || one.code - other.code)
    .slice(0, maxCodes)
