import type { ChartInfo, Unit } from '#proto/catalogue.ts'
import type { ChartData, Row } from '#proto/query.ts'
import { readInstant } from '#lib/ui/time.ts'
import { readNumber } from './series.ts'

type ChartColumn = ChartInfo['columns'][number]

const secondsOf = { second: 1, minute: 60 } as const
const rateUnits: Partial<Record<Unit, Partial<Record<keyof typeof secondsOf, Unit>>>> = {
  count: { second: 'per-second', minute: 'per-minute' },
  rows: { second: 'rows-per-second' },
  bytes: { second: 'bytes-per-second' },
}

/** The smallest part of a bucket that a rate is computed from, as the log of the host lags by some seconds. */
const minCoverage = 0.5

/**
 * Converts the totals of buckets to rates, so that values do not depend on the length of a bucket. The first and the last
 * bucket are divided by the time that the range covers of them.
 */
export const toRates = (data: ChartData): ChartData => {
  const { chart, rows, window } = data
  const bucketMs = (window?.bucketSeconds ?? 0) * 1_000
  const time = chart.columns.find(({ role }) => role === 'time')
  if (!window || !time || bucketMs <= 0) return data
  const rates = chart.columns.flatMap((column) => {
    const rate = findRate(column)
    return rate ? [{ name: column.name, ...rate }] : []
  })
  if (rates.length === 0) return data
  const convert = (row: Row): Row => {
    const fromMs = readInstant(row[time.name])
    if (fromMs === null) return row
    const coveredMs = Math.min(fromMs + bucketMs, window.toMs) - Math.max(fromMs, window.fromMs)
    const seconds = Math.max(coveredMs, bucketMs * minCoverage) / 1_000
    const values = rates.map(({ name, perSeconds }) => {
      const total = readNumber(row[name])
      return [name, total === null ? null : (total / seconds) * perSeconds]
    })
    return { ...row, ...Object.fromEntries(values) }
  }
  const columns = chart.columns.map((column) => {
    const rate = rates.find(({ name }) => name === column.name)
    return rate ? { ...column, unit: rate.unit } : column
  })
  return { ...data, chart: { ...chart, columns }, rows: rows.map(convert) }
}

const findRate = ({ per, unit }: ChartColumn): { unit: Unit; perSeconds: number } | undefined => {
  const rated = per === undefined || per === 'bucket' ? undefined : rateUnits[unit]?.[per]
  return rated && per && per !== 'bucket' ? { unit: rated, perSeconds: secondsOf[per] } : undefined
}
