import type { HostReport } from '#proto/host-report.ts'
import { bytes, count, duration, figure } from '../../measures/words.ts'
import { type Document, type Section, known, numeric, plain, tableSection } from './document.ts'
import { incidentSection, statementSection, patternSections, failureSection } from './lay-out-events.ts'

/** Converts a report to a document with a fixed order of sections. Sections without data are omitted. */
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
    subtitle: `${moment(report.fromMs)} to ${moment(report.toMs)}, ${report.zone}; generated ${moment(report.writtenAtMs)}`,
    headline: report.headline,
    sections: sections.filter((section) => section !== undefined),
  }
}

const summarySection = ({ summary }: HostReport): Section | undefined =>
  summary === null ? undefined : { title: 'Summary by the language model', blocks: [{ kind: 'text', text: summary }] }

type Moment = (atMs: number) => string

const storageSections = ({ disks, tables }: HostReport): (Section | undefined)[] => [
  tableSection(
    'Disks',
    [...plain('Disk'), ...numeric('Used', 'Size', 'Growth'), ...plain('Forecast')],
    disks.map(({ disk, usedBytes, totalBytes, grewBytes, forecast }) => [
      disk,
      bytes(usedBytes),
      bytes(totalBytes),
      known(grewBytes, signedBytes),
      forecast,
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
    'Peak values, backups and certificates',
    [...plain(''), ...numeric('Value'), ...plain('At')],
    [
      ...worst.map((each) => [each.what, words(each), known(each.atMs, moment)]),
      ['last successful backup', when(backupAtMs), ''],
      ['failed backups', known(failedBackups, figure), ''],
      ['next certificate expiry', when(certificateExpiresAtMs), ''],
    ],
  )
}

const changeSection = ({ changes }: HostReport): Section => {
  const { version, versionBefore, settings, restarts } = changes
  const upgrade = versionBefore === null ? '' : `, upgraded from ${versionBefore}`
  const changed = settings && settings.length > 0 ? settings.join(', ') : 'none'
  return {
    title: 'Version and settings',
    blocks: [
      {
        kind: 'text',
        text: `Version ${version ?? 'unknown'}${upgrade}. Server restarts: ${known(restarts, figure)}.`,
      },
      {
        kind: 'text',
        text: `Changed settings: ${settings === null ? 'unknown: there is no report of the previous week' : changed}.`,
      },
    ],
  }
}

const coverageSection = ({ coverage }: HostReport): Section => {
  const { hours, watchedHours, rules, unknownRules, undelivered } = coverage
  const failed = undelivered?.map(({ channel, count }) => `${channel} ${count}`).join(', ')
  const watched = watchedHours === null ? 'for an unknown number of hours' : `in ${watchedHours} of ${hours} hours`
  const evaluated = rules ? `${unknownRules ?? 0} of ${rules} rules have no data.` : 'No rule evaluation is on record.'
  const notified =
    undelivered === null ? 'Failed notifications: unknown.' : `Failed notifications: ${failed || 'none'}.`
  return {
    title: 'Monitoring coverage',
    blocks: [{ kind: 'text', text: `Monitored ${watched}. ${evaluated} ${notified}` }],
  }
}

const recommendationSection = ({ recommendations }: HostReport): Section | undefined =>
  recommendations.length === 0
    ? undefined
    : {
        title: 'Recommendations',
        blocks: recommendations.flatMap(({ severity, title, detail, evidenceSql }) => [
          { kind: 'text' as const, text: `${title} (${severity}). ${detail}` },
          ...(evidenceSql === '' ? [] : [{ kind: 'statement' as const, sql: evidenceSql }]),
        ]),
      }

const noteSection = ({ notes }: HostReport): Section | undefined =>
  notes.length === 0 ? undefined : { title: 'No data', blocks: notes.map((text) => ({ kind: 'text' as const, text })) }

/** Returns a formatter of timestamps in a time zone. */
const momentsOf = (zone: string): ((atMs: number) => string) => {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, dateStyle: 'medium', timeStyle: 'short' })
  return (atMs) => format.format(atMs)
}
