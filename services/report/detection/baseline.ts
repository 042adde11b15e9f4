import type { InsightRow } from '#proto/insight-rows.ts'
import type { Insight } from '#proto/insights.ts'
import { formatNumber, formatPercent } from '../format.ts'

/** Returns the median; undefined if there are no values. */
const computeMedian = (figures: readonly number[]): number | undefined => {
  const sorted = figures.filter(Number.isFinite).toSorted((one, other) => one - other)
  const half = Math.floor(sorted.length / 2)
  const [below, above] = [sorted[sorted.length % 2 === 0 ? half - 1 : half], sorted[half]]
  return below === undefined || above === undefined ? undefined : (below + above) / 2
}

/** The median of earlier values, and the distance of a value from it in robust standard deviations. */
interface Comparison {
  baseline: number
  score: number
}

/** Factor that makes a median absolute deviation comparable with a standard deviation. */
const madToDeviationFactor = 0.6745
/** Minimum deviation as a share of the median, so that small changes of a constant value do not count as anomalies. */
const minDeviationShare = 0.01

/** Compares a value with earlier ones; returns undefined if there are none. `minDeviation` has the unit of `value`. */
export const compareWithBaseline = (
  value: number,
  before: readonly number[],
  minDeviation: number,
): Comparison | undefined => {
  const baseline = computeMedian(before)
  if (baseline === undefined || !Number.isFinite(value)) return undefined
  const deviation = computeMedian(before.filter(Number.isFinite).map((figure) => Math.abs(figure - baseline))) ?? 0
  const least = Math.max(minDeviationShare * Math.abs(baseline), minDeviation)
  return { baseline, score: (madToDeviationFactor * (value - baseline)) / Math.max(deviation, least) }
}

/** The rows of earlier hours that are comparable with the last hour. */
interface SameHours<T> {
  rows: T[]
  confidence: Insight['confidence']
  /** The description of the comparison, such as `last hour, against the same hour of earlier weeks`. */
  window: string
}

const hoursPerWeek = 168
const minRows = 6
const manyRows = 9

/**
 * Returns the rows of the same hour of earlier weeks, including the adjacent hours. If there are too few, returns those
 * of earlier days. Returns undefined if these are also too few.
 */
export const selectComparableHours = <T extends { hoursAgo: number }>(rows: readonly T[]): SameHours<T> | undefined => {
  const earlier = rows.filter(({ hoursAgo }) => hoursAgo > 1)
  const ofWeeks = earlier.filter(({ hoursAgo }) => isNear(hoursAgo, hoursPerWeek))
  if (ofWeeks.length >= minRows) {
    const confidence = ofWeeks.length >= manyRows ? 'high' : 'medium'
    return { rows: ofWeeks, confidence, window: 'last hour, against the same hour of earlier weeks' }
  }
  const ofDays = earlier.filter(({ hoursAgo }) => isNear(hoursAgo, 24))
  if (ofDays.length < minRows) return undefined
  return { rows: ofDays, confidence: 'low', window: 'last hour, against the same hour of earlier days' }
}

/** Returns whether an hour is a whole number of periods ago, plus or minus one hour. */
const isNear = (hoursAgo: number, period: number): boolean => {
  const past = hoursAgo % period
  return hoursAgo >= period - 1 && (past <= 1 || past === period - 1)
}

type Day = InsightRow<'fingerprint-days'>
type SchemaChange = InsightRow<'schema-changes'>

/** Minimum growth of a read statistic that may explain a longer duration, as a factor. */
const minGrowthFactor = 1.5
/** Maximum age of a schema change that may be the cause, in days. */
const maxCauseAgeDays = 1

/**
 * Describes the changes that may explain a longer duration of a query pattern: the server version, its settings, the
 * schema of its tables, and the amount of data that it reads.
 */
export const describeCauses = (now: Day, before: readonly Day[], changes: readonly SchemaChange[]): string[] => {
  const [latest] = before.toSorted((one, other) => one.daysAgo - other.daysAgo)
  const changed = changes.filter(
    ({ table, daysAgo }) => daysAgo >= 0 && daysAgo <= maxCauseAgeDays && now.tables.includes(table),
  )
  const tables = [...new Set(changed.map(({ table }) => table))]
  const causes: (string | false | undefined)[] = [
    latest && latest.revision !== now.revision && 'the server version changed',
    latest && latest.settingsHash !== now.settingsHash && 'its settings changed',
    tables.length > 0 && `the schema of ${tables.join(' and ')} changed`,
  ]
  return [...causes.filter((cause) => typeof cause === 'string'), ...describeGrowth(now, before)]
}

/** Statistics on the data that the executions of a query pattern read. */
type ReadStats = Pick<Day, 'readRows' | 'selectedParts' | 'marksShare'>

/** Describes the read statistics of `now` (parts, share of data, rows) that are well above their median in `others`. */
export const describeGrowth = (now: ReadStats, others: readonly ReadStats[]): string[] => {
  const usual = (figureOf: (other: ReadStats) => number | null) =>
    computeMedian(others.flatMap((other) => figureOf(other) ?? []))
  const rows = usual(({ readRows }) => readRows)
  const parts = usual(({ selectedParts }) => selectedParts)
  const share = usual(({ marksShare }) => marksShare)
  const causes = [
    hasGrown(now.selectedParts, parts) &&
      `it reads ${formatNumber(now.selectedParts)} parts instead of ${formatNumber(parts ?? 0)}`,
    hasGrown(now.marksShare, share) &&
      `its plan reads ${formatPercent(now.marksShare)} of the data instead of ${formatPercent(share ?? 0)}`,
    hasGrown(now.readRows, rows) &&
      !hasGrown(now.marksShare, share) &&
      `the data that it reads is ${formatNumber(now.readRows / (rows ?? 1))} times as much`,
  ]
  return causes.filter((cause) => typeof cause === 'string')
}

const hasGrown = (now: number | null, usual: number | undefined): now is number =>
  now !== null && usual !== undefined && usual > 0 && now >= minGrowthFactor * usual
