import { hash } from 'node:crypto'
import type { HostReport } from '#proto/host-report.ts'
import { range } from '../measures/words.ts'
import type { Material } from './material.ts'
import { incidentsOf } from './sections/incidents.ts'
import {
  courseOf,
  errorCodesOf,
  improvementsOf,
  newPatternsOf,
  regressionsOf,
  statementsOf,
} from './sections/statements.ts'
import { disksOf, tablesOf } from './sections/storage.ts'
import { changesOf, coverageOf, recommendationsOf, safeguardsOf, settingsOf } from './sections/upkeep.ts'
import { worstOf } from './sections/worst.ts'

/** What a report is about. */
export type About = Pick<HostReport, 'hostKey' | 'host' | 'week' | 'zone'>

/** A report out of what was gathered: the same of the same. */
export const writeReport = (about: About, material: Material): HostReport => {
  const { period, writtenAtMs, rows, before, notes } = material
  const patterns = rows.patterns ?? []
  const statements = rows['statement-totals'] ? statementsOf(rows['statement-totals']) : null
  const told = {
    incidents: material.history ? incidentsOf(material.history, material.acknowledged) : null,
    statements,
    course: rows['statement-steps'] ? courseOf(rows['statement-steps'], period) : [],
    regressions: regressionsOf(patterns),
    improvements: improvementsOf(patterns),
    // Where nothing ran before, nothing is new.
    newPatterns: statements?.before ? newPatternsOf(patterns) : [],
    errorCodes: errorCodesOf(rows['error-codes'] ?? []),
    disks: disksOf(rows['disk-hours'] ?? [], period, writtenAtMs),
    tables: tablesOf(material.tables ?? [], rows.written),
    worst: worstOf(material),
    safeguards: safeguardsOf(material),
    changes: changesOf(material),
    coverage: coverageOf(material),
    writtenAtMs,
  }
  return {
    id: reportId(about, period),
    ...about,
    ...period,
    ...judge(told, before?.score ?? null),
    summary: null,
    scoreBefore: before?.score ?? null,
    ...told,
    settings: settingsOf(material),
    recommendations: recommendationsOf(material),
    notes: [...notes, ...(statements && !statements.before ? [noHistory] : [])],
  }
}

const noHistory = 'patterns: not enough history, the log has nothing of the period before'

/** One of each host, week and zone; of a chosen period, one of each host and period. */
export const reportId = (
  { hostKey, week, zone }: Pick<About, 'hostKey' | 'week' | 'zone'>,
  { fromMs, toMs }: Material['period'],
): string => {
  const name = week === null ? [hostKey, fromMs, toMs] : [hostKey, week, zone]
  return hash('sha256', JSON.stringify(name)).slice(0, 32)
}

/** What of a report the score is made of. */
type Scored = Pick<
  HostReport,
  'incidents' | 'statements' | 'regressions' | 'errorCodes' | 'disks' | 'safeguards' | 'coverage' | 'writtenAtMs'
>

interface Remark {
  /** Taken from 100. */
  points: number
  words: string
}

const dayMs = 86_400_000
const failsMore = 0.01
/** A code that came once or twice is told, and weighs nothing. */
const leastNew = 3
const soonDays = 7
const monthDays = 30
const certificateDays = 14
const fullCoverage = 0.9

/** How a host fared: 100 less what each thing weighs, and the same in words. */
export const judge = (report: Scored, scoreBefore: number | null): Pick<HostReport, 'score' | 'verdict'> => {
  const remarks = [
    ...incidents(report),
    ...statements(report),
    ...disks(report),
    ...safeguards(report),
    ...coverage(report),
  ]
  const score = Math.max(0, 100 - remarks.reduce((sum, { points }) => sum + points, 0))
  const what = remarks.map(({ words }) => words).join('; ')
  return { score, verdict: `${score} of 100${change(score, scoreBefore)}: ${what || 'nothing to tell of'}.` }
}

const change = (score: number, before: number | null): string => {
  if (before === null) return ''
  const more = score - before
  if (more === 0) return ', as in the week before'
  return `, ${Math.abs(more)} ${more > 0 ? 'more' : 'less'} than in the week before`
}

const incidents = ({ incidents: told }: Scored): Remark[] => {
  if (!told || told.total === 0) return []
  const warnings = told.total - told.critical
  const open = told.open > 0 ? `, ${told.open} of them still open` : ''
  return [
    {
      points: 8 * told.critical + 3 * warnings + 4 * told.open,
      words: `${counted(told.total, 'alert')}${open}`,
    },
  ]
}

const statements = ({ statements: told, regressions, errorCodes }: Scored): Remark[] => {
  const share = (totals: { calls: number; errors: number } | null | undefined): number =>
    totals && totals.calls > 0 ? totals.errors / totals.calls : 0
  const fresh = told?.before
    ? errorCodes.filter(({ count, countBefore }) => count >= leastNew && countBefore === 0).length
    : 0
  return [
    ...(share(told?.now) - share(told?.before) > failsMore ? [{ points: 5, words: 'more statements fail' }] : []),
    ...(regressions.length > 0
      ? [{ points: 2 * regressions.length, words: `${counted(regressions.length, 'pattern')} slower` }]
      : []),
    ...(fresh > 0 ? [{ points: Math.min(6, 2 * fresh), words: `${counted(fresh, 'new error code')}` }] : []),
  ]
}

const disks = ({ disks: told }: Scored): Remark[] =>
  told.flatMap(({ disk, daysToFull: days }) =>
    days && days.soonest < monthDays
      ? {
          points: days.soonest < soonDays ? 15 : 5,
          words: `disk ${disk} full in ${range(days.soonest, days.latest)} days`,
        }
      : [],
  )

const safeguards = ({ safeguards: told, writtenAtMs }: Scored): Remark[] => {
  const { failedBackups, certificateExpiresAtMs: expires } = told
  return [
    ...(failedBackups ? [{ points: 5, words: `${counted(failedBackups, 'backup')} failed` }] : []),
    ...(expires !== null && expires - writtenAtMs < certificateDays * dayMs
      ? [{ points: 10, words: 'a certificate expires within two weeks' }]
      : []),
  ]
}

const coverage = ({ coverage: { hours, watchedHours } }: Scored): Remark[] =>
  watchedHours !== null && watchedHours < fullCoverage * hours
    ? [{ points: 5, words: `watched in ${watchedHours} of ${hours} hours only` }]
    : []

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
