import type { QueryPatternSummary } from '#proto/fingerprints.ts'
import type { KeyMetric } from '#lib/ui/key-metric.ts'
import { formatValue } from '#lib/ui/number.ts'

/** Returns the key metrics of a query pattern. */
export const listFingerprintMetrics = (pattern: QueryPatternSummary): KeyMetric[] => [
  { name: 'Calls', value: pattern.calls, note: formatErrors(pattern) },
  { name: 'Total time', value: pattern.totalMs, unit: 'milliseconds', note: shareOf(pattern) },
  { name: 'Average', value: pattern.averageMs, unit: 'milliseconds', note: `median ${formatMs(pattern.p50Ms)}` },
  { name: 'p95', value: pattern.p95Ms, unit: 'milliseconds', note: `p99 ${formatMs(pattern.p99Ms)}` },
  { name: 'Longest', value: pattern.longestMs, unit: 'milliseconds', note: `CPU ${formatMs(pattern.cpuMs)} total` },
  { name: 'Rows read', value: pattern.readRows, unit: 'rows', note: formatValue(pattern.readBytes, 'bytes') },
  {
    name: 'Peak memory',
    value: pattern.peakMemoryBytes,
    unit: 'bytes',
    note: `average ${formatValue(pattern.averageMemoryBytes, 'bytes')}`,
  },
  { name: 'Users', value: pattern.users.join(', '), note: pattern.tables.join(', ') },
]

const formatMs = (ms: number): string => formatValue(ms, 'milliseconds')
const formatErrors = ({ errors }: QueryPatternSummary): string =>
  errors > 0 ? `${formatValue(errors, 'count')} failed` : 'no failures'
const shareOf = ({ share }: QueryPatternSummary): string =>
  share === null ? '' : `${formatValue(share * 100, 'percent')} of total`
