import type { HostReport, ReportedPattern, StatementTotals } from '#proto/host-report.ts'
import { bytes, count, duration, percent } from '../../measures/words.ts'
import { known, numeric, plain, tableSection, type Chart, type Section } from './document.ts'

type Moment = (atMs: number) => string

const milliseconds = (value: number | null): string => known(value, (told) => duration(told / 1_000))

export const incidentSection = ({ incidents, writtenAtMs }: HostReport, moment: Moment): Section | undefined => {
  if (!incidents) return undefined
  const { total, fired, critical, open, flapping, list } = incidents
  const text =
    total === 0
      ? 'No alerts.'
      : `${total} alerts, of which ${fired} began in this period, ${critical} were critical and ${open} are still open.`
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
  const row = (title: string, told: (totals: StatementTotals) => string): string[] => [
    title,
    told(now),
    before ? told(before) : '–',
  ]
  return {
    title: 'Statements',
    blocks: [
      {
        kind: 'table',
        columns: [...plain(''), ...numeric('This period', 'The one before')],
        rows: [
          row('Ended', ({ calls }) => count(calls)),
          row('Failed', ({ calls, errors }) => (calls > 0 ? `${count(errors)} (${percent(errors / calls)})` : '0')),
          row('Time in all', ({ totalMs }) => duration(totalMs / 1_000)),
          row('Median', ({ p50Ms }) => milliseconds(p50Ms)),
          row('95th percentile', ({ p95Ms }) => milliseconds(p95Ms)),
          row('Most memory of one', ({ peakMemoryBytes }) => known(peakMemoryBytes, bytes)),
        ],
      },
      ...chartsOf(report, moment),
    ],
  }
}

const chartsOf = ({ course, fromMs, toMs }: HostReport, moment: Moment): Chart[] => {
  const chart = (title: string, values: (number | null)[], words: (value: number) => string): Chart => ({
    kind: 'chart',
    title,
    values,
    highest: words(Math.max(0, ...values.map((value) => value ?? 0))),
    from: moment(fromMs),
    to: moment(toMs),
  })
  const of = (figureOf: (step: HostReport['course'][number]) => number | null) => course.map(figureOf)
  return [
    chart(
      'Statements',
      of(({ calls }) => calls),
      count,
    ),
    chart(
      'Failed statements',
      of(({ errors }) => errors),
      count,
    ),
    chart(
      '95th percentile of their time',
      of(({ p95Ms }) => p95Ms),
      milliseconds,
    ),
    chart(
      'Most memory of one statement',
      of(({ peakMemoryBytes }) => peakMemoryBytes),
      bytes,
    ),
  ]
}

export const patternSections = ({ regressions, improvements, newPatterns }: HostReport): (Section | undefined)[] => [
  tableSection('Patterns that became slower', patternColumns, regressions.map(patternRow)),
  tableSection('Patterns that became faster', patternColumns, improvements.map(patternRow)),
  tableSection('New patterns', patternColumns, newPatterns.map(patternRow)),
]

const patternColumns = [
  ...plain('Statement'),
  ...numeric('Calls', '95th percentile', 'before', 'Read by one', 'before', 'Share of time', 'before'),
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
    'Failed statements by code',
    [...plain('Code', ''), ...numeric('This period', 'The one before')],
    errorCodes.map(({ code, name, count: times, countBefore }) => [
      `${name} (${code})`,
      statements?.before && countBefore === 0 ? 'new' : '',
      count(times),
      statements?.before ? count(countBefore) : '–',
    ]),
  )
