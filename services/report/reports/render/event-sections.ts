import type { HostReport, ReportedPattern, StatementTotals } from '#proto/host-report.ts'
import { formatBytes, formatCount, formatSeconds, formatPercent } from '../../format.ts'
import {
  formatOrDash,
  createNumberColumns,
  createTextColumns,
  createTableSection,
  type ReportChart,
  type ReportSection,
} from './document.ts'

type FormatTime = (atMs: number) => string

const formatMilliseconds = (value: number | null): string => formatOrDash(value, (ms) => formatSeconds(ms / 1_000))

export const createIncidentSection = (
  { incidents, writtenAtMs }: HostReport,
  moment: FormatTime,
): ReportSection | undefined => {
  if (!incidents) return undefined
  const { total, fired, critical, open, flapping, list } = incidents
  const text =
    total === 0
      ? 'No alerts.'
      : `${total} alerts: ${fired} started in this period, ${critical} critical, ${open} still open.`
  const flaps = flapping.length > 0 ? ` Fired three times or more: ${flapping.join(', ')}.` : ''
  return {
    title: 'Alerts',
    blocks: [
      { kind: 'text', text: text + flaps },
      {
        kind: 'table',
        columns: createTextColumns('Alert', 'Severity', 'Since', 'Lasted', 'Acknowledged by'),
        rows: list.map(({ title, severity, sinceMs, endedAtMs, acknowledgedBy }) => [
          title,
          severity,
          moment(sinceMs),
          endedAtMs === null
            ? `open, ${formatSeconds((writtenAtMs - sinceMs) / 1_000)}`
            : formatSeconds((endedAtMs - sinceMs) / 1_000),
          acknowledgedBy ?? '–',
        ]),
      },
    ],
  }
}

export const createStatementSection = (report: HostReport, moment: FormatTime): ReportSection | undefined => {
  if (!report.statements) return undefined
  const { now, before } = report.statements
  const row = (title: string, format: (totals: StatementTotals) => string): string[] => [
    title,
    format(now),
    before ? format(before) : '–',
  ]
  return {
    title: 'Queries',
    blocks: [
      {
        kind: 'table',
        columns: [...createTextColumns(''), ...createNumberColumns('This period', 'Previous period')],
        rows: [
          row('Finished', ({ calls }) => formatCount(calls)),
          row('Failed', ({ calls, errors }) =>
            calls > 0 ? `${formatCount(errors)} (${formatPercent(errors / calls)})` : '0',
          ),
          row('Total duration', ({ totalMs }) => formatSeconds(totalMs / 1_000)),
          row('Median', ({ p50Ms }) => formatMilliseconds(p50Ms)),
          row('95th percentile', ({ p95Ms }) => formatMilliseconds(p95Ms)),
          row('Peak memory of one query', ({ peakMemoryBytes }) => formatOrDash(peakMemoryBytes, formatBytes)),
        ],
      },
      ...createCharts(report, moment),
    ],
  }
}

const createCharts = ({ course, fromMs, toMs }: HostReport, moment: FormatTime): ReportChart[] => {
  const chart = (title: string, values: (number | null)[], format: (value: number) => string): ReportChart => ({
    kind: 'chart',
    title,
    values,
    highest: format(Math.max(0, ...values.map((value) => value ?? 0))),
    from: moment(fromMs),
    to: moment(toMs),
  })
  const of = (figureOf: (step: HostReport['course'][number]) => number | null) => course.map(figureOf)
  return [
    chart(
      'Queries',
      of(({ calls }) => calls),
      formatCount,
    ),
    chart(
      'Failed queries',
      of(({ errors }) => errors),
      formatCount,
    ),
    chart(
      '95th percentile of duration',
      of(({ p95Ms }) => p95Ms),
      formatMilliseconds,
    ),
    chart(
      'Peak memory of one query',
      of(({ peakMemoryBytes }) => peakMemoryBytes),
      formatBytes,
    ),
  ]
}

export const createPatternSections = ({
  regressions,
  improvements,
  newPatterns,
}: HostReport): (ReportSection | undefined)[] => [
  createTableSection('Slower query patterns', patternColumns, regressions.map(formatPatternRow)),
  createTableSection('Faster query patterns', patternColumns, improvements.map(formatPatternRow)),
  createTableSection('New query patterns', patternColumns, newPatterns.map(formatPatternRow)),
]

const patternColumns = [
  ...createTextColumns('Query'),
  ...createNumberColumns('Calls', '95th percentile', 'before', 'Read per query', 'before', 'Share of time', 'before'),
]

const formatPatternRow = (pattern: ReportedPattern): string[] => [
  pattern.text,
  formatCount(pattern.calls),
  formatMilliseconds(pattern.p95Ms),
  formatMilliseconds(pattern.p95MsBefore),
  formatOrDash(pattern.readBytes, formatBytes),
  formatOrDash(pattern.readBytesBefore, formatBytes),
  formatOrDash(pattern.share, formatPercent),
  formatOrDash(pattern.shareBefore, formatPercent),
]

export const createFailureSection = ({ errorCodes, statements }: HostReport): ReportSection | undefined =>
  createTableSection(
    'Failed queries by error code',
    [...createTextColumns('Code', ''), ...createNumberColumns('This period', 'Previous period')],
    errorCodes.map(({ code, name, count: times, countBefore }) => [
      `${name} (${code})`,
      statements?.before && countBefore === 0 ? 'new' : '',
      formatCount(times),
      statements?.before ? formatCount(countBefore) : '–',
    ]),
  )
