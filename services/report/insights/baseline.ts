/** The middle of the figures; undefined of none. */
export const median = (figures: readonly number[]): number | undefined => {
  const sorted = figures.filter(Number.isFinite).toSorted((one, other) => one - other)
  const half = Math.floor(sorted.length / 2)
  const [below, above] = [sorted[sorted.length % 2 === 0 ? half - 1 : half], sorted[half]]
  return below === undefined || above === undefined ? undefined : (below + above) / 2
}

/** What is usual, and how far from it a value is, in deviations that outliers do not stretch. */
export interface Compared {
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
