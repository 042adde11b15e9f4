import type { ChartInfo, Unit } from '#proto/catalogue.ts'
import type { ChartData } from '#proto/query.ts'
import { formatLength } from '#lib/state/range.ts'
import { formatDay, formatDayTime, formatTime, formatTimeWithSeconds } from '#lib/ui/time.ts'

type DescribedData = Pick<ChartData, 'chart' | 'window' | 'statement' | 'history'>

/** Returns what a chart shows: `queries per minute · last 24 h · 10 min buckets`. Expects rates, not totals. */
export const describeChart = ({ chart, window, statement, history }: DescribedData, zone: string): string => {
  const bucket = window?.bucketSeconds ? formatBucket(window.bucketSeconds) : ''
  const unit = describeUnit(chart, bucket)
  // Charts without a window show the current state if a host was queried for them. Other charts show data of the page.
  const range = window ? formatWindow(window, zone) : statement ? 'now' : ''
  const isStated = chart.columns.find(({ role }) => role === 'value')?.per === 'bucket'
  const source = history ? describeHistory(history, zone) : ''
  return [unit, range, isStated ? '' : bucket && `${bucket} buckets`, source].filter(Boolean).join(' · ')
}

/** Returns which part of a chart is from the history. */
const describeHistory = (
  { reason, toMs, lastSampleMs, gaps = [] }: NonNullable<ChartData['history']>,
  zone: string,
): string => {
  const source =
    reason === 'host-unreachable'
      ? `from the history, last sample ${formatDayTime(lastSampleMs, zone)}`
      : `from the history before ${formatDayTime(toMs, zone)}`
  const [newest, ...others] = gaps
  const more = others.length > 0 ? ` and ${others.length} more` : ''
  return newest ? `${source} · not recorded: ${formatWindow(newest, zone)}${more}` : source
}

/** Units as words. The noun is what a count counts. */
const unitTexts: Record<Unit, (noun: string) => string> = {
  count: (noun) => noun,
  rows: () => 'rows',
  bytes: () => 'bytes',
  'bytes-per-second': () => 'bytes per second',
  'rows-per-second': () => 'rows per second',
  'per-second': (noun) => `${noun} per second`,
  'per-minute': (noun) => `${noun} per minute`,
  seconds: () => 'duration',
  milliseconds: () => 'duration',
  microseconds: () => 'duration',
  percent: () => 'percent',
  ratio: () => 'ratio',
  'yes-no': () => '',
  level: () => '',
  none: (noun) => noun,
}

const describeUnit = ({ columns, kind, title }: ChartInfo, bucket: string): string => {
  const values = columns.filter(({ role }) => role === 'value')
  const [first] = values
  if (!first) return ''
  // Several value columns of a time chart are several series, so that the label of one does not name them all. The title
  // does.
  const isOverTime = kind !== 'heatmap' && columns.some(({ role }) => role === 'time')
  const isNamed = !isOverTime || values.length === 1 || columns.some(({ role }) => role === 'series')
  const noun = lowerFirst(isNamed ? (first.label ?? first.name) : title.replace(/ per (second|minute)$/, ''))
  const unit = unitTexts[first.unit](noun).trim()
  return first.per === 'bucket' && bucket ? `${unit} per ${shorten(bucket)}`.trim() : unit
}

/** Returns the length of a bucket after `per`: `10 min`, `hour`, `day`. */
const shorten = (bucket: string): string =>
  bucket
    .replace(/^1 min$/, 'minute')
    .replace(/^1 h$/, 'hour')
    .replace(/^1 /, '')

/** Returns a label within a sentence. Abbreviations keep their case. */
const lowerFirst = (label: string): string =>
  /^[A-Z][a-z]/.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label

const bucketUnits: readonly [seconds: number, name: string][] = [
  [2_629_746, 'month'],
  [604_800, 'week'],
  [86_400, 'day'],
  [3_600, 'h'],
  [60, 'min'],
]

/** Formats the length of a bucket: `1 min`, `6 h`, `1 day`. */
export const formatBucket = (seconds: number): string => {
  const [size, name] = bucketUnits.find(([each]) => seconds >= each && seconds % each === 0) ?? [1, 's']
  return `${seconds / size} ${name}`
}

/** Ranges below this length are shown with seconds, in milliseconds. */
const secondsBelowMs = 600_000

type Window = Pick<NonNullable<ChartData['window']>, 'fromMs' | 'toMs' | 'lastMinutes'>

/** Formats a range: `last 6 h`, or two instants. The day is repeated only if it differs. */
export const formatWindow = ({ fromMs, toMs, lastMinutes }: Window, zone: string): string => {
  if (lastMinutes)
    return `last ${formatLength(lastMinutes)
      .replace(/m$/, ' min')
      .replace(/([hd])$/, ' $1')}`
  const format = toMs - fromMs < secondsBelowMs ? formatTimeWithSeconds : formatTime
  const [day, lastDay] = [formatDay(fromMs, zone), formatDay(toMs, zone)]
  return `${day} ${format(fromMs, zone)} – ${day === lastDay ? '' : `${lastDay} `}${format(toMs, zone)}`
}
