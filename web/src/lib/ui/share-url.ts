import { computeComparisonOffsetMs, writeComparison, type Comparison } from '#lib/state/comparison.ts'
import { getRangeSeconds, writeRange, type TimeRange } from '#lib/state/range.ts'

/** Returns a range as two instants. A relative one ends now by the clock of the host. */
export const freezeRange = (range: TimeRange, nowMs: number): TimeRange & { kind: 'between' } => {
  if (range.kind === 'between') return range
  const to = Math.floor(nowMs / 1_000)
  return { kind: 'between', from: to - getRangeSeconds(range), to }
}

/** What freezes the comparison of a link: it becomes the start of the compared range. */
interface FrozenComparison {
  comparison: Comparison | null
  nowMs: number
  zone: string
}

/** Returns a link to the page with this range, which it states even if it is the default one. */
export const shareUrl = (
  page: { readonly href: string },
  range: TimeRange,
  frozen: FrozenComparison | null,
): string => {
  const url = new URL(page.href)
  const parameters: Record<string, string | null> = writeRange(range, 0)
  if (frozen && frozen.comparison !== null) {
    const { from, to } = freezeRange(range, frozen.nowMs)
    const shown = { fromMs: from * 1_000, toMs: to * 1_000, bucketMs: 0 }
    const offsetMs = computeComparisonOffsetMs(frozen.comparison, shown, frozen.zone)
    parameters['compare'] = writeComparison(from - Math.round(offsetMs / 1_000))
  }
  for (const [name, value] of Object.entries(parameters)) {
    if (value === null) url.searchParams.delete(name)
    else url.searchParams.set(name, value)
  }
  return url.href
}
