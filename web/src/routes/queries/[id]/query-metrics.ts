import type { QuerySummary } from '#proto/query-detail.ts'
import type { KeyMetric } from '#lib/ui/key-metric.ts'
import { formatValue } from '#lib/ui/number.ts'

/** Returns the key metrics of a query. */
export const listQueryMetrics = (query: QuerySummary): KeyMetric[] => [
  { name: 'Duration', value: query.durationMs, unit: 'milliseconds', note: formatExecutionCount(query) },
  { name: 'CPU time', value: query.cpuMs, unit: 'milliseconds', note: formatAverageCores(query) },
  { name: 'Peak memory', value: query.memoryBytes, unit: 'bytes', note: formatThreadCount(query) },
  { name: 'Rows read', value: query.readRows, unit: 'rows', note: formatReadRate(query) },
  { name: 'Bytes read', value: query.readBytes, unit: 'bytes' },
  {
    name: 'Rows returned',
    value: query.resultRows,
    unit: 'rows',
    note: formatValue(query.resultBytes, 'bytes'),
  },
  {
    name: 'Rows written',
    value: query.writtenRows,
    unit: 'rows',
    note: formatValue(query.writtenBytes, 'bytes'),
  },
  { name: 'User', value: query.user, note: query.client || query.address },
]

const formatExecutionCount = ({ executions }: QuerySummary): string =>
  executions > 1 ? `last of ${executions} with this id` : ''
const formatThreadCount = ({ threads: count }: QuerySummary): string => (count > 0 ? `${count} threads` : '')
const formatAverageCores = ({ cpuMs, durationMs }: QuerySummary): string =>
  durationMs > 0 ? `${formatValue(cpuMs / durationMs, 'none')} cores on average` : ''
const formatReadRate = ({ readRows, durationMs }: QuerySummary): string =>
  durationMs > 0 ? formatValue(readRows / (durationMs / 1_000), 'rows-per-second') : ''
