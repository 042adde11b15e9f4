import type { InsightRow } from '#proto/insight-rows.ts'
import { detector, type Sight, severityOf } from '../measures/detector.ts'
import { confidenceOf, forecastDisk, knownDiskHours } from '../measures/forecast.ts'
import { bytes, range } from '../measures/words.ts'

/** The fewer days are left, the worse: 30 days or less are worth telling, 7 warn. */
const limits = { info: -30, warning: -7 }

/** A disk will be full within a month when it goes on as it did for two weeks, or for two days. */
export const diskFull = detector({
  kind: 'disk-full',
  signal: 'days until the disk is full',
  window: 'the last 14 and 2 days',
  sets: ['disk-hours'],
  link: '/tables/disks',
  detect({ 'disk-hours': rows }) {
    const told = knownDiskHours(rows)
    const outcomes = [...Map.groupBy(told, ({ disk }) => disk)].map(([disk, ofDisk]) => sightOf(disk, ofDisk))
    return {
      sights: outcomes.flatMap((outcome) => (typeof outcome === 'object' ? outcome : [])),
      notes:
        rows.length > 0 && told.length === 0
          ? ['disks: the host tells no numbers']
          : outcomes.flatMap((outcome) => (typeof outcome === 'string' ? outcome : [])),
    }
  },
})

type KnownRows = Parameters<typeof forecastDisk>[0]

/** A sight, words why nothing can be told, or nothing when there is nothing to tell. */
const sightOf = (disk: InsightRow<'disk-hours'>['disk'], rows: KnownRows): Sight | string | undefined => {
  const forecast = forecastDisk(rows)
  if (typeof forecast === 'string') return `disk ${disk}: ${forecast}`
  const { growth, usedBytes, totalBytes, days } = forecast
  const severity = growth && severityOf(-growth.soonest, limits)
  if (!growth || !severity) return undefined
  return {
    subject: disk,
    severity,
    title: `Disk ${disk} is full in ${range(growth.soonest, growth.latest)} days`,
    detail: `${bytes(totalBytes - usedBytes)} of ${bytes(totalBytes)} are free, and ${bytes(growth.perDay)} more are used each day; the figures scatter by ${bytes(growth.spread)}.`,
    baseline: -limits.info,
    value: growth.soonest,
    unit: 'days',
    score: growth.score,
    confidence: confidenceOf(days),
  }
}
