import type { HostReport } from '#proto/host-report.ts'
import { formatBytes, formatCount, formatSeconds, formatNumber } from '../../format.ts'
import {
  type ReportDocument,
  type ReportSection,
  formatOrDash,
  createNumberColumns,
  createTextColumns,
  createTableSection,
} from './document.ts'
import {
  createIncidentSection,
  createStatementSection,
  createPatternSections,
  createFailureSection,
} from './event-sections.ts'

/** Converts a report to a document with a fixed order of sections. Sections without data are omitted. */
export const createReportDocument = (report: HostReport): ReportDocument => {
  const moment = createTimeFormatter(report.zone)
  const sections: (ReportSection | undefined)[] = [
    createSummarySection(report),
    createIncidentSection(report, moment),
    createStatementSection(report, moment),
    ...createPatternSections(report),
    createFailureSection(report),
    ...createStorageSections(report),
    createSafeguardSection(report, moment),
    createChangeSection(report),
    createCoverageSection(report),
    createRecommendationSection(report),
    createNoteSection(report),
  ]
  return {
    title: `${report.host}: ${report.week ?? 'report'}`,
    subtitle: `${moment(report.fromMs)} to ${moment(report.toMs)}, ${report.zone}; generated ${moment(report.writtenAtMs)}`,
    headline: report.headline,
    sections: sections.filter((section) => section !== undefined),
  }
}

const createSummarySection = ({ summary }: HostReport): ReportSection | undefined =>
  summary === null ? undefined : { title: 'Summary by the language model', blocks: [{ kind: 'text', text: summary }] }

type FormatTime = (atMs: number) => string

const createStorageSections = ({ disks, tables }: HostReport): (ReportSection | undefined)[] => [
  createTableSection(
    'Disks',
    [
      ...createTextColumns('Disk'),
      ...createNumberColumns('Used', 'Size', 'Growth'),
      ...createTextColumns('Forecast', 'Track record'),
    ],
    disks.map(({ disk, usedBytes, totalBytes, grewBytes, forecast, forecastRecord }) => [
      disk,
      formatBytes(usedBytes),
      formatBytes(totalBytes),
      formatOrDash(grewBytes, formatSignedBytes),
      forecast,
      forecastRecord,
    ]),
  ),
  createTableSection(
    'Largest tables',
    [...createTextColumns('Table'), ...createNumberColumns('Rows', 'Size', 'Inserted', 'before')],
    tables.map(({ table, rows, bytes: size, writtenBytes, writtenBytesBefore }) => [
      table,
      formatCount(rows),
      formatOrDash(size, formatBytes),
      formatOrDash(writtenBytes, formatBytes),
      formatOrDash(writtenBytesBefore, formatBytes),
    ]),
  ),
]

const formatSignedBytes = (value: number): string => (value < 0 ? `−${formatBytes(-value)}` : formatBytes(value))

const createSafeguardSection = ({ worst, safeguards }: HostReport, moment: FormatTime): ReportSection | undefined => {
  const words = ({ value, unit }: HostReport['worst'][number]): string => {
    if (unit === 'bytes') return formatBytes(value)
    return unit === 'seconds' ? formatSeconds(value) : formatNumber(value)
  }
  const { backupAtMs, failedBackups, certificateExpiresAtMs } = safeguards
  const when = (atMs: number | null): string => (atMs === null ? 'none known' : moment(atMs))
  return createTableSection(
    'Peak values, backups and certificates',
    [...createTextColumns(''), ...createNumberColumns('Value'), ...createTextColumns('At')],
    [
      ...worst.map((each) => [each.what, words(each), formatOrDash(each.atMs, moment)]),
      ['last successful backup', when(backupAtMs), ''],
      ['failed backups', formatOrDash(failedBackups, formatNumber), ''],
      ['next certificate expiry', when(certificateExpiresAtMs), ''],
    ],
  )
}

const createChangeSection = ({ changes }: HostReport): ReportSection => {
  const { version, versionBefore, settings, restarts } = changes
  const upgrade = versionBefore === null ? '' : `, upgraded from ${versionBefore}`
  const changed = settings && settings.length > 0 ? settings.join(', ') : 'none'
  return {
    title: 'Version and settings',
    blocks: [
      {
        kind: 'text',
        text: `Version ${version ?? 'unknown'}${upgrade}. Server restarts: ${formatOrDash(restarts, formatNumber)}.`,
      },
      {
        kind: 'text',
        text: `Changed settings: ${settings === null ? 'unknown: there is no report of the previous week' : changed}.`,
      },
    ],
  }
}

const createCoverageSection = ({ coverage }: HostReport): ReportSection => {
  const { hours, watchedHours, rules, unknownRules, undelivered } = coverage
  const failed = undelivered?.map(({ channel, count }) => `${channel} ${count}`).join(', ')
  const watched = watchedHours === null ? 'for an unknown number of hours' : `in ${watchedHours} of ${hours} hours`
  const evaluated = rules ? `${unknownRules ?? 0} of ${rules} rules have no data.` : 'No rule evaluations are recorded.'
  const notified =
    undelivered === null ? 'Failed notifications: unknown.' : `Failed notifications: ${failed || 'none'}.`
  return {
    title: 'Monitoring coverage',
    blocks: [{ kind: 'text', text: `Monitored ${watched}. ${evaluated} ${notified}` }],
  }
}

const createRecommendationSection = ({ recommendations }: HostReport): ReportSection | undefined =>
  recommendations.length === 0
    ? undefined
    : {
        title: 'Recommendations',
        blocks: recommendations.flatMap(({ severity, title, detail, evidenceSql }) => [
          { kind: 'text' as const, text: `${title} (${severity}). ${detail}` },
          ...(evidenceSql === '' ? [] : [{ kind: 'statement' as const, sql: evidenceSql }]),
        ]),
      }

const createNoteSection = ({ notes }: HostReport): ReportSection | undefined =>
  notes.length === 0 ? undefined : { title: 'No data', blocks: notes.map((text) => ({ kind: 'text' as const, text })) }

/** Returns a formatter of timestamps in a time zone. */
const createTimeFormatter = (zone: string): ((atMs: number) => string) => {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, dateStyle: 'medium', timeStyle: 'short' })
  return (atMs) => format.format(atMs)
}
