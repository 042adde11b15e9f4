/** A benchmark. It compares values measured on the product with a reference from the same run. */
export interface Benchmark {
  name: string
  /** Returns all comparisons at the end, or yields each comparison when it is measured. */
  run(): Promise<Comparison[]> | AsyncIterable<Comparison>
}

export interface Comparison {
  name: string
  unit: string
  /** One value of the product per repetition. Repetitions alternate with those of the reference. */
  ours: readonly number[]
  reference: readonly number[]
  bar: { atMost: number } | { atLeast: number }
  /** Values of a minimal proxy, which show how much of the cost any proxy would have on this machine. */
  bare?: readonly number[]
}

/** Returns the median. */
export const calculateMedian = (figures: readonly number[]): number => calculateQuantile(figures, 0.5)

/** Returns a quantile of the values; `share` is from 0 to 1. Throws if there are no values. */
export const calculateQuantile = (figures: readonly number[], share: number): number => {
  const sorted = figures.toSorted((a, b) => a - b)
  const figure = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
  if (figure === undefined) throw new Error('cannot compute a percentile: no figures were measured')
  return figure
}

/** Formats a comparison as a line with the ratio, its threshold, both medians and their spread. */
export const formatComparison = (comparison: Comparison): string => {
  const ratio = computeRatio(comparison)
  const bar = 'atMost' in comparison.bar ? `≤ ${comparison.bar.atMost}` : `≥ ${comparison.bar.atLeast}`
  const figures = `${spread(comparison.ours)} against ${spread(comparison.reference)} ${comparison.unit}${bareOf(comparison)}`
  return `${isWithinThreshold(comparison) ? 'holds ' : 'MISSES'}  ${comparison.name}: ${ratio.toFixed(2)} (bar ${bar}); ${figures}`
}

export const computeRatio = (comparison: Comparison): number =>
  calculateMedian(comparison.ours) / calculateMedian(comparison.reference)

const bareOf = ({ bare, reference }: Comparison): string =>
  bare ? `; a bare proxy ${(calculateMedian(bare) / calculateMedian(reference)).toFixed(2)}, ${spread(bare)}` : ''

export const isWithinThreshold = (comparison: Comparison): boolean =>
  'atMost' in comparison.bar
    ? computeRatio(comparison) <= comparison.bar.atMost
    : computeRatio(comparison) >= comparison.bar.atLeast

const spread = (figures: readonly number[]): string =>
  figures.length === 1
    ? format(calculateMedian(figures))
    : `${format(calculateMedian(figures))} [${format(Math.min(...figures))}–${format(Math.max(...figures))}]`

const format = (figure: number): string => (figure >= 100 ? figure.toFixed(0) : figure.toPrecision(3))
