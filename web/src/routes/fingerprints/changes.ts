import { computeComparisonOffsetMs, type Comparison } from '#lib/state/comparison.ts'
import type { ReadableParameters } from '#lib/state/range.ts'

/** The kinds of change that users select, with the most urgent one first. */
export const changeKinds = [
  { id: 'slower', title: 'Slower' },
  { id: 'new', title: 'New' },
  { id: 'vanished', title: 'Vanished' },
  { id: 'faster', title: 'Faster' },
] as const
export type ChangeKind = (typeof changeKinds)[number]['id']

/** The measures by which fingerprints are compared, with their field in the response. */
export const changeMeasures = [
  { id: 'p95', title: 'p95', field: 'p95Ms' },
  { id: 'average', title: 'Average', field: 'averageMs' },
  { id: 'total', title: 'Total time', field: 'totalMs' },
] as const

export const emptyTexts: Readonly<Record<ChangeKind, string>> = {
  slower: 'No fingerprint became slower',
  new: 'No new fingerprints',
  vanished: 'No fingerprint vanished',
  faster: 'No fingerprint became faster',
}

/** Returns the kind of change in the URL. The default is slower ones. */
export const readChange = (parameters: ReadableParameters): ChangeKind =>
  changeKinds.find(({ id }) => id === parameters.get('change'))?.id ?? changeKinds[0].id

/** Returns the measure in the URL. The default is the 95th percentile. */
export const readMeasure = (parameters: ReadableParameters): (typeof changeMeasures)[number] =>
  changeMeasures.find(({ id }) => id === parameters.get('by')) ?? changeMeasures[0]

/** Returns the URL parameters of a link to a range. */
export const linkToRange = ({ fromMs, toMs }: { fromMs: number; toMs: number }): Record<string, string> => ({
  from: String(Math.floor(fromMs / 1_000)),
  to: String(Math.ceil(toMs / 1_000)),
})

/** The offset is a multiple of this length, so that the requests of a minute are equal. */
const minuteMs = 60_000

/** Returns how far the compared range is before the shown one, in seconds; not positive if it is later. */
export const computeOffsetSeconds = (
  comparison: Comparison,
  { from, to }: { from: number; to: number },
  zone: string,
): number =>
  computeComparisonOffsetMs(comparison, { fromMs: from * 1_000, toMs: to * 1_000, bucketMs: minuteMs }, zone) / 1_000
