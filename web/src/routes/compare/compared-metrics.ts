import type { Unit } from '#proto/catalogue.ts'
import type { FleetMetrics } from '#proto/host.ts'
import type { Comparison } from '#lib/api/host-comparison.ts'

/** The key metrics that the page compares, in display order. */
export const comparedMetrics: readonly { name: keyof FleetMetrics; title: string; unit: Unit; percent?: boolean }[] = [
  { name: 'runningQueries', title: 'Running queries', unit: 'count' },
  { name: 'merges', title: 'Merges', unit: 'count' },
  { name: 'cpuUsage', title: 'CPU', unit: 'percent', percent: true },
  { name: 'loadAverage', title: 'Load, 1 minute', unit: 'none' },
  { name: 'cpuCores', title: 'Cores', unit: 'count' },
  { name: 'memoryUsedBytes', title: 'Memory used', unit: 'bytes' },
  { name: 'memoryTotalBytes', title: 'Total memory', unit: 'bytes' },
  { name: 'diskUsedBytes', title: 'Disk used', unit: 'bytes' },
  { name: 'diskTotalBytes', title: 'Total disk space', unit: 'bytes' },
  { name: 'tables', title: 'Tables', unit: 'count' },
  { name: 'databases', title: 'Databases', unit: 'count' },
  { name: 'readonlyReplicas', title: 'Read-only replicas', unit: 'count' },
  { name: 'maxReplicaDelaySeconds', title: 'Replica delay', unit: 'seconds' },
]

/** The measures by which the page compares fingerprints. */
export const fingerprintMeasures = [
  { id: 'p95Ms', title: 'p95', unit: 'milliseconds' },
  { id: 'averageMs', title: 'Average', unit: 'milliseconds' },
  { id: 'totalMs', title: 'Total time', unit: 'milliseconds' },
  { id: 'calls', title: 'Calls', unit: 'count' },
  { id: 'errors', title: 'Failures', unit: 'count' },
  { id: 'cpuMs', title: 'CPU time', unit: 'milliseconds' },
  { id: 'readRows', title: 'Rows read', unit: 'rows' },
  { id: 'peakMemoryBytes', title: 'Peak memory', unit: 'bytes' },
] as const satisfies readonly { id: string; title: string; unit: Unit }[]
export type FingerprintMeasure = (typeof fingerprintMeasures)[number]['id']

type Pattern = Comparison['patterns'][number]

/**
 * Returns the ratio of the largest to the smallest value: infinite if the smallest is zero, and null if fewer than two
 * hosts have a value or all values are zero.
 */
export const computeSpreadRatio = ({ values }: Pattern, measure: FingerprintMeasure): number | null => {
  const found = Object.values(values).flatMap((value) => (value ? [value[measure]] : []))
  const [smallest, largest] = [Math.min(...found), Math.max(...found)]
  return found.length < 2 || largest <= 0 ? null : largest / Math.max(0, smallest)
}

/** Returns the difference between the largest and the smallest value; -1 if fewer than two hosts have a value. */
const differenceOf = ({ values }: Pattern, measure: FingerprintMeasure): number => {
  const found = Object.values(values).flatMap((value) => (value ? [value[measure]] : []))
  return found.length < 2 ? -1 : Math.max(...found) - Math.min(...found)
}

/** Sorts fingerprints by the shown ratio between hosts, largest first, and equal ratios by the difference. */
export const sortByRatio = (patterns: readonly Pattern[], measure: FingerprintMeasure): Pattern[] => {
  const ratios = new Map(patterns.map((pattern) => [pattern, computeSpreadRatio(pattern, measure) ?? 0]))
  return patterns.toSorted((one, other) => {
    const [ratio, otherRatio] = [ratios.get(one) ?? 0, ratios.get(other) ?? 0]
    // Two infinite ratios have no difference.
    if (ratio !== otherRatio) return otherRatio > ratio ? 1 : -1
    return differenceOf(other, measure) - differenceOf(one, measure)
  })
}
