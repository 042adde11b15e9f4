import { hash } from 'node:crypto'
import type { HostReport } from '#proto/host-report.ts'
import type { Material } from './material.ts'
import { judge } from './score.ts'
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
