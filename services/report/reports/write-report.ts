import { hash } from 'node:crypto'
import type { HostReport } from '#proto/host-report.ts'
import { formatRange } from '../format.ts'
import type { ReportData } from './report-data.ts'
import { summarizeIncidents } from './sections/incidents.ts'
import {
  fillStatementSteps,
  rankErrorCodes,
  findImprovements,
  findNewPatterns,
  findRegressions,
  summarizeStatements,
} from './sections/statements.ts'
import { summarizeDisks, findLargestTables } from './sections/storage.ts'
import {
  summarizeChanges,
  summarizeCoverage,
  selectRecommendations,
  summarizeSafeguards,
  collectSettingHashes,
} from './sections/changes.ts'
import { collectPeakValues } from './sections/peak-values.ts'

/** The host, week and time zone of a report. `week` is null for a chosen period. */
export type ReportSubject = Pick<HostReport, 'hostKey' | 'host' | 'week' | 'zone'>

/** Builds the report from its data. The function is pure. */
export const composeReport = (about: ReportSubject, material: ReportData): HostReport => {
  const { period, writtenAtMs, rows, before, notes } = material
  const patterns = rows.patterns ?? []
  const statements = rows['statement-totals'] ? summarizeStatements(rows['statement-totals']) : null
  const sections = {
    incidents: material.history ? summarizeIncidents(material.history, material.acknowledged) : null,
    statements,
    course: rows['statement-steps'] ? fillStatementSteps(rows['statement-steps'], period) : [],
    regressions: findRegressions(patterns),
    improvements: findImprovements(patterns),
    // Without data of the previous period, every pattern would count as new.
    newPatterns: statements?.before ? findNewPatterns(patterns) : [],
    errorCodes: rankErrorCodes(rows['error-codes'] ?? []),
    disks: summarizeDisks(rows['disk-hours'] ?? [], material),
    tables: findLargestTables(material.tables ?? [], rows.written),
    worst: collectPeakValues(material),
    safeguards: summarizeSafeguards(material),
    changes: summarizeChanges(material),
    coverage: summarizeCoverage(material),
    writtenAtMs,
  }
  return {
    id: createReportId(about, period),
    ...about,
    ...period,
    ...scoreReport(sections, before?.score ?? null),
    summary: null,
    scoreBefore: before?.score ?? null,
    ...sections,
    settings: collectSettingHashes(material),
    recommendations: selectRecommendations(material),
    notes: [...notes, ...(statements && !statements.before ? [noHistory] : [])],
  }
}

const noHistory = 'patterns: not enough history, the query log has no entries of the previous period'

/** Returns an id that is unique per host, week and zone, or per host and period. */
export const createReportId = (
  { hostKey, week, zone }: Pick<ReportSubject, 'hostKey' | 'week' | 'zone'>,
  { fromMs, toMs }: ReportData['period'],
): string => {
  const name = week === null ? [hostKey, fromMs, toMs] : [hostKey, week, zone]
  return hash('sha256', JSON.stringify(name)).slice(0, 32)
}

/** The fields of a report that affect its score. */
type ScoreInputs = Pick<
  HostReport,
  'incidents' | 'statements' | 'regressions' | 'errorCodes' | 'disks' | 'safeguards' | 'coverage' | 'writtenAtMs'
>

interface Deduction {
  /** Points to subtract from 100. */
  points: number
  words: string
}

const dayMs = 86_400_000
const minFailureRateIncrease = 0.01
/** Minimum occurrences of a new error code to affect the score. Rarer codes are reported, but not scored. */
const minNewErrors = 3
const criticalDiskDays = 7
const maxDiskDays = 30
const certificateDays = 14
const minCoverageShare = 0.9

/** Returns the score and its explanation. The score is 100 minus all deductions, but at least 0. */
export const scoreReport = (
  report: ScoreInputs,
  scoreBefore: number | null,
): Pick<HostReport, 'score' | 'headline'> => {
  const deductions = [
    ...deductForIncidents(report),
    ...deductForStatements(report),
    ...deductForDisks(report),
    ...deductForSafeguards(report),
    ...deductForCoverage(report),
  ]
  const score = Math.max(0, 100 - deductions.reduce((sum, { points }) => sum + points, 0))
  const what = deductions.map(({ words }) => words).join('; ')
  return { score, headline: `${score} of 100${formatScoreChange(score, scoreBefore)}: ${what || 'no findings'}.` }
}

const formatScoreChange = (score: number, before: number | null): string => {
  if (before === null) return ''
  const more = score - before
  if (more === 0) return ', unchanged from the previous week'
  return `, ${Math.abs(more)} ${more > 0 ? 'more' : 'less'} than in the previous week`
}

const deductForIncidents = ({ incidents: alerts }: ScoreInputs): Deduction[] => {
  if (!alerts || alerts.total === 0) return []
  const warnings = alerts.total - alerts.critical
  const open = alerts.open > 0 ? `, ${alerts.open} of them still open` : ''
  return [
    {
      points: 8 * alerts.critical + 3 * warnings + 4 * alerts.open,
      words: `${formatCountedNoun(alerts.total, 'alert')}${open}`,
    },
  ]
}

const deductForStatements = ({ statements: totals, regressions, errorCodes }: ScoreInputs): Deduction[] => {
  const share = (period: { calls: number; errors: number } | null | undefined): number =>
    period && period.calls > 0 ? period.errors / period.calls : 0
  const fresh = totals?.before
    ? errorCodes.filter(({ count, countBefore }) => count >= minNewErrors && countBefore === 0).length
    : 0
  return [
    ...(share(totals?.now) - share(totals?.before) > minFailureRateIncrease
      ? [{ points: 5, words: 'more queries fail' }]
      : []),
    ...(regressions.length > 0
      ? [{ points: 2 * regressions.length, words: `${formatCountedNoun(regressions.length, 'pattern')} slower` }]
      : []),
    ...(fresh > 0 ? [{ points: Math.min(6, 2 * fresh), words: `${formatCountedNoun(fresh, 'new error code')}` }] : []),
  ]
}

const deductForDisks = ({ disks: all }: ScoreInputs): Deduction[] =>
  all.flatMap(({ disk, daysToFull: days }) =>
    days && days.soonest < maxDiskDays
      ? {
          points: days.soonest < criticalDiskDays ? 15 : 5,
          words: `disk ${disk} full in ${formatRange(days.soonest, days.latest)} days`,
        }
      : [],
  )

const deductForSafeguards = ({ safeguards: state, writtenAtMs }: ScoreInputs): Deduction[] => {
  const { failedBackups, certificateExpiresAtMs: expires } = state
  return [
    ...(failedBackups ? [{ points: 5, words: `${formatCountedNoun(failedBackups, 'backup')} failed` }] : []),
    ...(expires !== null && expires - writtenAtMs < certificateDays * dayMs
      ? [{ points: 10, words: 'a certificate expires within two weeks' }]
      : []),
  ]
}

const deductForCoverage = ({ coverage: { hours, watchedHours } }: ScoreInputs): Deduction[] =>
  watchedHours !== null && watchedHours < minCoverageShare * hours
    ? [{ points: 5, words: `monitored in only ${watchedHours} of ${hours} hours` }]
    : []

const formatCountedNoun = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
