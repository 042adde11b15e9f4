import type { InsightRow } from '#proto/insight-rows.ts'
import { defineDetector, type Observation, getSeverity } from '../detection/detector.ts'
import { getForecastConfidence, forecastDisk, selectKnownDiskHours } from '../detection/forecast.ts'
import { formatBytes } from '../format.ts'

/** Negated days until the disk is full, because limits apply to increasing values: 30 days or fewer are `info`. */
const limits = { info: -30, warning: -7 }

const daySeconds = 86_400

/** Detects disks that will be full within a month if they keep growing as in the last two weeks or two days. */
export const diskFullDetector = defineDetector({
  kind: 'disk-full',
  signal: 'days until the disk is full',
  window: 'the last 14 and 2 days',
  sets: ['disk-hours'],
  link: '/tables/disks',
  detect({ 'disk-hours': rows }) {
    const known = selectKnownDiskHours(rows)
    const outcomes = [...Map.groupBy(known, ({ disk }) => disk)].map(([disk, ofDisk]) =>
      createObservation(disk, ofDisk),
    )
    return {
      observations: outcomes.flatMap((outcome) => (typeof outcome === 'object' ? outcome : [])),
      notes:
        rows.length > 0 && known.length === 0
          ? ['disks: not reported by this host']
          : outcomes.flatMap((outcome) => (typeof outcome === 'string' ? outcome : [])),
    }
  },
})

type KnownRows = Parameters<typeof forecastDisk>[0]

/** Returns an observation, a note on missing data as a string, or undefined if the disk is not filling up. */
const createObservation = (
  disk: InsightRow<'disk-hours'>['disk'],
  rows: KnownRows,
): Observation | string | undefined => {
  const forecast = forecastDisk(rows)
  if (typeof forecast === 'string') return `disk ${disk}: ${forecast}`
  const { growth, usedBytes, totalBytes, days } = forecast
  const severity = growth && getSeverity(-growth.soonest, limits)
  if (!growth || !severity) return undefined
  return {
    subject: disk,
    severity,
    title: `Disk ${disk} fills up`,
    detail: (when) =>
      `At the current rate, it is full ${when(growth.soonest * daySeconds)}${growth.latest > growth.soonest ? `, at the latest ${when(growth.latest * daySeconds)}` : ''}. ${formatBytes(totalBytes - usedBytes)} of ${formatBytes(totalBytes)} were free; usage grows by ${formatBytes(growth.perDay)} per day; the daily values vary by ${formatBytes(growth.spread)}.`,
    baseline: -limits.info,
    value: growth.soonest,
    unit: 'days',
    score: growth.score,
    confidence: getForecastConfidence(days),
  }
}
