import type { InsightRow } from '#proto/insight-rows.ts'
import { detector, type Sight } from '../insights/detector.ts'
import { fitLine } from '../insights/line.ts'
import { severityOf } from '../insights/severity.ts'
import { bytes, figure } from '../insights/words.ts'

const leastPoints = 48
const leastSpanHours = 72
const shortHours = 48
/** A drop by more than this share begins a new history: something was removed. */
const drop = 0.05
/** Growth within the window has to be so many times what the points scatter beside the line. */
const leastScore = 3
/** The fewer days are left, the worse: 30 days or less are worth telling, 7 warn. */
const limits = { info: -30, warning: -7 }

type Row = InsightRow<'disk-hours'> & { usedBytes: number; totalBytes: number }

/** A disk will be full within a month when it goes on as it did for two weeks, or for two days. */
export const diskFull = detector({
  kind: 'disk-full',
  signal: 'days until the disk is full',
  window: 'the last 14 and 2 days',
  sets: ['disk-hours'],
  link: '/tables/disks',
  detect({ 'disk-hours': rows }) {
    const told = rows.filter((row): row is Row => Boolean(row.usedBytes && row.totalBytes) && row.hoursAgo >= 0)
    const outcomes = [...Map.groupBy(told, ({ disk }) => disk)].map(([disk, ofDisk]) => forecast(disk, ofDisk))
    return {
      sights: outcomes.flatMap((outcome) => (typeof outcome === 'object' ? outcome : [])),
      notes:
        rows.length > 0 && told.length === 0
          ? ['disks: the host tells no numbers']
          : outcomes.flatMap((outcome) => (typeof outcome === 'string' ? outcome : [])),
    }
  },
})

/** A sight, words why nothing can be told, or nothing when there is nothing to tell. */
const forecast = (disk: string, rows: readonly Row[]): Sight | string | undefined => {
  const history = sinceLastDrop(rows.toSorted((one, other) => other.hoursAgo - one.hoursAgo))
  const [first, last] = [history[0], history.at(-1)]
  if (!first || !last || history.length < leastPoints || first.hoursAgo - last.hoursAgo < leastSpanHours) {
    return `disk ${disk}: not enough history, less than 3 days since the last drop`
  }
  const long = growth(history)
  if (!long || long.score < leastScore) return undefined
  const short = growth(history.filter(({ hoursAgo }) => hoursAgo < shortHours))
  const free = last.totalBytes - last.usedBytes
  const days = [long, ...(short && short.score >= leastScore ? [short] : [])].map(({ perDay }) => free / perDay)
  const [soonest, latest] = [Math.min(...days), Math.max(...days)]
  const severity = severityOf(-soonest, limits)
  if (severity === undefined) return undefined
  const range = figure(soonest) === figure(latest) ? figure(soonest) : `${figure(soonest)} to ${figure(latest)}`
  return {
    subject: disk,
    severity,
    title: `Disk ${disk} is full in ${range} days`,
    detail: `${bytes(free)} of ${bytes(last.totalBytes)} are free, and ${bytes(long.perDay)} more are used each day; the figures scatter by ${bytes(long.spread)}.`,
    baseline: -limits.info,
    value: soonest,
    unit: 'days',
    score: long.score,
    confidence: first.hoursAgo - last.hoursAgo >= 2 * leastSpanHours ? 'high' : 'medium',
  }
}

const sinceLastDrop = (rows: readonly Row[]): readonly Row[] => {
  const begins = rows.findLastIndex(({ usedBytes }, index) => {
    const before = rows[index - 1]
    return before !== undefined && usedBytes < before.usedBytes * (1 - drop)
  })
  return begins === -1 ? rows : rows.slice(begins)
}

const growth = (rows: readonly Row[]) => {
  const line = fitLine(rows.map(({ hoursAgo, usedBytes }) => ({ x: -hoursAgo / 24, y: usedBytes })))
  if (!line || line.slope <= 0) return undefined
  const days = ((rows[0]?.hoursAgo ?? 0) - (rows.at(-1)?.hoursAgo ?? 0)) / 24
  // What does not scatter at all is as sure as can be; a byte keeps the score a number.
  return { perDay: line.slope, spread: line.spread, score: (line.slope * days) / Math.max(1, line.spread) }
}
