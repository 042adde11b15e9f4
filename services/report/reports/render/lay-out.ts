import type { HostReport } from '#proto/host-report.ts'
import { bytes, count, duration, figure } from '../../measures/words.ts'
import { type Document, type Section, known, numeric, plain, tableSection } from './document.ts'
import { incidentSection, statementSection, patternSections, failureSection } from './lay-out-events.ts'

/** Lays a report out in its fixed order; sections of which nothing is known are left out, and the notes say why. */
export const layOut = (report: HostReport): Document => {
  const moment = momentsOf(report.zone)
  const sections: (Section | undefined)[] = [
    summarySection(report),
    incidentSection(report, moment),
    statementSection(report, moment),
    ...patternSections(report),
    failureSection(report),
    ...storageSections(report),
    upkeepSection(report, moment),
    changeSection(report),
    coverageSection(report),
    recommendationSection(report),
    noteSection(report),
  ]
  return {
    title: `${report.host}: ${report.week ?? 'report'}`,
    subtitle: `${moment(report.fromMs)} to ${moment(report.toMs)}, ${report.zone}; written ${moment(report.writtenAtMs)}`,
    verdict: report.verdict,
    sections: sections.filter((section) => section !== undefined),
  }
}

const summarySection = ({ summary }: HostReport): Section | undefined =>
  summary === null ? undefined : { title: 'In short, by a language model', blocks: [{ kind: 'text', text: summary }] }

type Moment = (atMs: number) => string

const storageSections = ({ disks, tables }: HostReport): (Section | undefined)[] => [
  tableSection(
    'Disks',
    [...plain('Disk'), ...numeric('Used', 'of', 'Grew by'), ...plain('If it goes on so')],
    disks.map(({ disk, usedBytes, totalBytes, grewBytes, outlook }) => [
      disk,
      bytes(usedBytes),
      bytes(totalBytes),
      known(grewBytes, signedBytes),
      outlook,
    ]),
  ),
  tableSection(
    'Largest tables',
    [...plain('Table'), ...numeric('Rows', 'Size', 'Inserted', 'before')],
    tables.map(({ table, rows, bytes: size, writtenBytes, writtenBytesBefore }) => [
      table,
      count(rows),
      known(size, bytes),
      known(writtenBytes, bytes),
      known(writtenBytesBefore, bytes),
    ]),
  ),
]

const signedBytes = (value: number): string => (value < 0 ? `−${bytes(-value)}` : bytes(value))

const upkeepSection = ({ worst, safeguards }: HostReport, moment: Moment): Section | undefined => {
  const words = ({ value, unit }: HostReport['worst'][number]): string => {
    if (unit === 'bytes') return bytes(value)
    return unit === 'seconds' ? duration(value) : figure(value)
  }
  const { backupAtMs, failedBackups, certificateExpiresAtMs } = safeguards
  const when = (atMs: number | null): string => (atMs === null ? 'none known' : moment(atMs))
  return tableSection(
    'Worst values and safeguards',
    [...plain(''), ...numeric('Value'), ...plain('At')],
    [
      ...worst.map((each) => [each.what, words(each), known(each.atMs, moment)]),
      ['last backup that succeeded', when(backupAtMs), ''],
      ['backups that failed', known(failedBackups, figure), ''],
      ['first certificate to expire', when(certificateExpiresAtMs), ''],
    ],
  )
}

const changeSection = ({ changes }: HostReport): Section => {
  const { version, versionBefore, settings, restarts } = changes
  const upgrade = versionBefore === null ? '' : `; it was ${versionBefore} in the report before`
  const changed = settings && settings.length > 0 ? settings.join(', ') : 'none'
  return {
    title: 'Version and settings',
    blocks: [
      {
        kind: 'text',
        text: `Version ${version ?? 'unknown'}${upgrade}. Starts of the server: ${known(restarts, figure)}.`,
      },
      {
        kind: 'text',
        text: `Settings that changed: ${settings === null ? 'unknown, as there is no report of the week before' : changed}.`,
      },
    ],
  }
}

const coverageSection = ({ coverage }: HostReport): Section => {
  const { hours, watchedHours, rules, unknownRules, undelivered } = coverage
  const given = undelivered?.map(({ channel, count }) => `${channel} ${count}`).join(', ')
  const watched = watchedHours === null ? 'unknown in how many hours' : `in ${watchedHours} of ${hours} hours`
  const judged = rules
    ? `Of ${rules} rules ${unknownRules ?? 0} could not be told.`
    : 'No rule is known to have been judged.'
  const told =
    undelivered === null ? 'It is unknown which notices were given up.' : `Notices given up: ${given || 'none'}.`
  return { title: 'How it was watched', blocks: [{ kind: 'text', text: `Watched ${watched}. ${judged} ${told}` }] }
}

const recommendationSection = ({ recommendations }: HostReport): Section | undefined =>
  recommendations.length === 0
    ? undefined
    : {
        title: 'Worth doing',
        blocks: recommendations.flatMap(({ severity, title, detail, evidenceSql }) => [
          { kind: 'text' as const, text: `${title} (${severity}). ${detail}` },
          ...(evidenceSql === '' ? [] : [{ kind: 'statement' as const, sql: evidenceSql }]),
        ]),
      }

const noteSection = ({ notes }: HostReport): Section | undefined =>
  notes.length === 0
    ? undefined
    : { title: 'What could not be told', blocks: notes.map((text) => ({ kind: 'text' as const, text })) }

/** Instants as people of a zone write them. */
const momentsOf = (zone: string): ((atMs: number) => string) => {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, dateStyle: 'medium', timeStyle: 'short' })
  return (atMs) => format.format(atMs)
}
