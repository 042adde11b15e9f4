import type { InsightRow } from '#proto/insight-rows.ts'
import type { Insight } from '#proto/insights.ts'
import { figure, percent } from './words.ts'

/** The middle of the figures; undefined of none. */
const median = (figures: readonly number[]): number | undefined => {
  const sorted = figures.filter(Number.isFinite).toSorted((one, other) => one - other)
  const half = Math.floor(sorted.length / 2)
  const [below, above] = [sorted[sorted.length % 2 === 0 ? half - 1 : half], sorted[half]]
  return below === undefined || above === undefined ? undefined : (below + above) / 2
}

/** What is usual, and how far from it a value is, in deviations that outliers do not stretch. */
interface Compared {
  baseline: number
  score: number
}

/** Puts the median absolute deviation on the scale of a standard deviation. */
const toDeviations = 0.6745
/** Least deviation, as a share of the median: what hardly ever changes would otherwise stand out by nothing. */
const leastShare = 0.01

/** Compares a value with what was measured before; `floor` is the least deviation that counts. Undefined without figures. */
export const compare = (value: number, before: readonly number[], floor: number): Compared | undefined => {
  const baseline = median(before)
  if (baseline === undefined || !Number.isFinite(value)) return undefined
  const deviation = median(before.filter(Number.isFinite).map((figure) => Math.abs(figure - baseline))) ?? 0
  const least = Math.max(leastShare * Math.abs(baseline), floor)
  return { baseline, score: (toDeviations * (value - baseline)) / Math.max(deviation, least) }
}

/** Figures of hours like the last one, and how far they may be trusted. */
interface SameHours<T> {
  rows: T[]
  confidence: Insight['confidence']
  /** In words: `the same hour of 4 weeks`. */
  window: string
}

const week = 168
const leastRows = 6
const manyRows = 9

/**
 * The rows of the same hour of earlier weeks, with the hour before and after; where there are too few, of earlier days.
 * Undefined when there are too few of these as well.
 */
export const sameHours = <T extends { hoursAgo: number }>(rows: readonly T[]): SameHours<T> | undefined => {
  const earlier = rows.filter(({ hoursAgo }) => hoursAgo > 1)
  const ofWeeks = earlier.filter(({ hoursAgo }) => isNear(hoursAgo, week))
  if (ofWeeks.length >= leastRows) {
    const confidence = ofWeeks.length >= manyRows ? 'high' : 'medium'
    return { rows: ofWeeks, confidence, window: 'last hour, against the same hour of earlier weeks' }
  }
  const ofDays = earlier.filter(({ hoursAgo }) => isNear(hoursAgo, 24))
  if (ofDays.length < leastRows) return undefined
  return { rows: ofDays, confidence: 'low', window: 'last hour, against the same hour of earlier days' }
}

/** Whether it is a multiple of a period ago, give or take an hour. */
const isNear = (hoursAgo: number, period: number): boolean => {
  const past = hoursAgo % period
  return hoursAgo >= period - 1 && (past <= 1 || past === period - 1)
}

type Day = InsightRow<'fingerprint-days'>
type SchemaChange = InsightRow<'schema-changes'>

/** Growth that could explain longer executions. */
const grown = 1.5
/** DDL of the last two days lies near enough to the change. */
const nearDays = 1

/**
 * What changed together with a pattern of statements, in words: the server's version, the settings, the schema, the parts and
 * the rows that are read, the share of the data that is read although the statement is the same.
 */
export const attribute = (now: Day, before: readonly Day[], changes: readonly SchemaChange[]): string[] => {
  const [latest] = before.toSorted((one, other) => one.daysAgo - other.daysAgo)
  const changed = changes.filter(
    ({ table, daysAgo }) => daysAgo >= 0 && daysAgo <= nearDays && now.tables.includes(table),
  )
  const tables = [...new Set(changed.map(({ table }) => table))]
  const causes: (string | false | undefined)[] = [
    latest && latest.revision !== now.revision && 'the server changed its version',
    latest && latest.settingsHash !== now.settingsHash && 'its settings changed',
    tables.length > 0 && `the schema of ${tables.join(' and ')} changed`,
  ]
  return [...causes.filter((cause) => typeof cause === 'string'), ...grownBeside(now, before)]
}

/** What one execution reads. */
type Reading = Pick<Day, 'readRows' | 'selectedParts' | 'marksShare'>

/** What of the reading is well beyond that of others, in words: parts, the share of the data although the statement is the same, rows. */
export const grownBeside = (now: Reading, others: readonly Reading[]): string[] => {
  const usual = (figureOf: (other: Reading) => number | null) =>
    median(others.flatMap((other) => figureOf(other) ?? []))
  const rows = usual(({ readRows }) => readRows)
  const parts = usual(({ selectedParts }) => selectedParts)
  const share = usual(({ marksShare }) => marksShare)
  const causes = [
    hasGrown(now.selectedParts, parts) &&
      `it reads ${figure(now.selectedParts)} parts instead of ${figure(parts ?? 0)}`,
    hasGrown(now.marksShare, share) &&
      `its plan reads ${percent(now.marksShare)} of the data instead of ${percent(share ?? 0)}`,
    hasGrown(now.readRows, rows) &&
      !hasGrown(now.marksShare, share) &&
      `the data that it reads is ${figure(now.readRows / (rows ?? 1))} times as much`,
  ]
  return causes.filter((cause) => typeof cause === 'string')
}

const hasGrown = (now: number | null, usual: number | undefined): now is number =>
  now !== null && usual !== undefined && usual > 0 && now >= grown * usual
