import type { ReadableParameters } from './range.ts'
import { computeZoneOffsetMs } from './zone.ts'

/**
 * The range of equal length that charts compare with: the one before, the same time yesterday or last week, or one that
 * starts at an instant in epoch seconds.
 */
export type Comparison = 'previous' | 'day' | 'week' | number

export const comparisonChoices: readonly { comparison: 'previous' | 'day' | 'week'; label: string; short: string }[] = [
  { comparison: 'previous', label: 'Previous period', short: 'previous' },
  { comparison: 'day', label: 'Same time yesterday', short: 'yesterday' },
  { comparison: 'week', label: 'Same time last week', short: 'last week' },
]

/** Parses `compare=1`, `compare=day`, `compare=week` or `compare=<epoch seconds>`; null for anything else. */
export const readComparison = (parameters: ReadableParameters): Comparison | null => {
  const text = parameters.get('compare') ?? ''
  if (text === '1') return 'previous'
  if (text === 'day' || text === 'week') return text
  return /^[1-9]\d{3,9}$/.test(text) ? Number(text) : null
}

/** Returns the `compare` parameter; null removes it from the URL. */
export const writeComparison = (comparison: Comparison | null): string | null =>
  comparison === 'previous' ? '1' : comparison === null ? null : String(comparison)

const dayMs = 86_400_000

/** A range in epoch milliseconds, with the length of its buckets in milliseconds; 0 without buckets. */
interface ComparedRange {
  fromMs: number
  toMs: number
  bucketMs: number
}

/**
 * Returns how far the compared range is before the shown one, in milliseconds. Days have the length that they have in
 * the time zone. Other distances are multiples of a bucket, so that the buckets of both ranges coincide.
 */
export const computeComparisonOffsetMs = (
  comparison: Comparison,
  { fromMs, toMs, bucketMs }: ComparedRange,
  zone: string,
): number => {
  if (comparison === 'day' || comparison === 'week') {
    const distanceMs = comparison === 'day' ? dayMs : 7 * dayMs
    return distanceMs - computeZoneOffsetMs(toMs, zone) + computeZoneOffsetMs(toMs - distanceMs, zone)
  }
  const distanceMs = comparison === 'previous' ? toMs - fromMs : fromMs - comparison * 1_000
  return bucketMs > 0 ? Math.round(distanceMs / bucketMs) * bucketMs : Math.round(distanceMs / 1_000) * 1_000
}
