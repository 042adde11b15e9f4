import type { HostReport, ReportedPattern, StatementTotals } from '#proto/host-report.ts'
import { bytes, count, duration, percent } from '../../measures/words.ts'
import { known, numeric, plain, tableSection, type Chart, type Section } from './document.ts'

type Moment = (atMs: number) => string

const milliseconds = (value: number | null): string => known(value, (ms) => duration(ms / 1_000))

export const incidentSection = ({ incidents, writtenAtMs }: HostReport, moment: Moment): Section | undefined => {
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
        columns: plain('Alert', 'Severity', 'Since', 'Lasted', 'Acknowledged by'),
        rows: list.map(({ title, severity, sinceMs, endedAtMs, acknowledgedBy }) => [
          title,
          severity,
          moment(sinceMs),
          endedAtMs === null
            ? `open, ${duration((writtenAtMs - sinceMs) / 1_000)}`
            : duration((endedAtMs - sinceMs) / 1_000),
          acknowledgedBy ?? '–',
        ]),
      },
    ],
  }
}

export const statementSection = (report: HostReport, moment: Moment): Section | undefined => {
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
        columns: [...plain(''), ...numeric('This period', 'Previous period')],
        rows: [
          row('Finished', ({ calls }) => count(calls)),
          row('Failed', ({ calls, errors }) => (calls > 0 ? `${count(errors)} (${percent(errors / calls)})` : '0')),
          row('Total duration', ({ totalMs }) => duration(totalMs / 1_000)),
          row('Median', ({ p50Ms }) => milliseconds(p50Ms)),
          row('95th percentile', ({ p95Ms }) => milliseconds(p95Ms)),
          row('Peak memory of one query', ({ peakMemoryBytes }) => known(peakMemoryBytes, bytes)),
        ],
      },
      ...chartsOf(report, moment),
    ],
  }
}

const chartsOf = ({ course, fromMs, toMs }: HostReport, moment: Moment): Chart[] => {
  const chart = (title: string, values: (number | null)[], format: (value: number) => string): Chart => ({
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
      count,
    ),
    chart(
      'Failed queries',
      of(({ errors }) => errors),
      count,
    ),
    chart(
      '95th percentile of duration',
      of(({ p95Ms }) => p95Ms),
      milliseconds,
    ),
    chart(
      'Peak memory of one query',
      of(({ peakMemoryBytes }) => peakMemoryBytes),
      bytes,
    ),
  ]
}

export const patternSections = ({ regressions, improvements, newPatterns }: HostReport): (Section | undefined)[] => [
  tableSection('Slower query patterns', patternColumns, regressions.map(patternRow)),
  tableSection('Faster query patterns', patternColumns, improvements.map(patternRow)),
  tableSection('New query patterns', patternColumns, newPatterns.map(patternRow)),
]

const patternColumns = [
  ...plain('Query'),
  ...numeric('Calls', '95th percentile', 'before', 'Read per query', 'before', 'Share of time', 'before'),
]

const patternRow = (pattern: ReportedPattern): string[] => [
  pattern.text,
  count(pattern.calls),
  milliseconds(pattern.p95Ms),
  milliseconds(pattern.p95MsBefore),
  known(pattern.readBytes, bytes),
  known(pattern.readBytesBefore, bytes),
  known(pattern.share, percent),
  known(pattern.shareBefore, percent),
]

export const failureSection = ({ errorCodes, statements }: HostReport): Section | undefined =>
  tableSection(
    'Failed queries by error code',
    [...plain('Code', ''), ...numeric('This period', 'Previous period')],
    errorCodes.map(({ code, name, count: times, countBefore }) => [
      `${name} (${code})`,
      statements?.before && countBefore === 0 ? 'new' : '',
      count(times),
      statements?.before ? count(countBefore) : '–',
    ]),
  )
