import type { Topic } from '#proto/catalogue.ts'

/** Folders of `charts/` in the order of the menu; a folder that is not listed comes last, under its own name. */
export const topics: readonly Topic[] = [
  { id: 'overview', title: 'Overview' },
  { id: 'health', title: 'Health' },
  { id: 'insights', title: 'Insights' },
  { id: 'queries', title: 'Queries' },
  { id: 'query-insights', title: 'Query insights' },
  { id: 'traffic', title: 'Traffic' },
  { id: 'merges', title: 'Merges' },
  { id: 'tables', title: 'Tables' },
  { id: 'explorer', title: 'Explorer' },
  { id: 'storage', title: 'Storage' },
  { id: 'ingestion', title: 'Ingestion' },
  { id: 'replication', title: 'Replication' },
  { id: 'replication-service', title: 'Replication service' },
  { id: 'keeper', title: 'Keeper' },
  { id: 'system', title: 'System' },
  { id: 'security', title: 'Security' },
  { id: 'logs', title: 'Logs' },
  { id: 'page-views', title: 'Page views' },
]

/** The entry of a folder, listed or not. */
export const topicOf = (id: string): Topic =>
  topics.find((topic) => topic.id === id) ?? {
    id,
    title: id.charAt(0).toUpperCase() + id.slice(1).replaceAll('-', ' '),
  }

/** Position in the menu. */
export const topicOrder = (id: string): number => {
  const position = topics.findIndex((topic) => topic.id === id)
  return position === -1 ? topics.length : position
}

/** Tables that people look for first in a topic, in this order; the others follow by the alphabet. */
export const firstTables: Readonly<Record<string, readonly string[]>> = {
  ingestion: ['asynchronous-inserts'],
  keeper: ['keeper-overview', 'keeper-connections', 'zookeeper'],
  logs: ['text-log', 'crash-log'],
  merges: ['merges', 'mutations', 'recent-merges', 'part-info'],
  queries: ['running-queries', 'history-queries', 'slow-queries', 'failed-queries', 'expensive-queries'],
  replication: ['replicas', 'replication-queue', 'replicated-fetches', 'clusters'],
  security: ['sessions', 'login-attempts'],
  storage: ['table-growth', 'freeable-space', 'database-disk-usage', 'backups'],
  system: ['settings', 'disks', 'errors', 'warnings', 'metrics', 'asynchronous-metrics'],
  tables: ['tables-overview', 'tables-list', 'columns', 'dictionaries', 'view-refreshes'],
}

/** Charts that people look at first in a topic, in this order: how much, how well, by whom; the others follow by the alphabet. */
export const firstCharts: Readonly<Record<string, readonly string[]>> = {
  insights: ['insight-total-queries', 'insight-error-rate', 'insight-avg-duration', 'insight-active-queries'],
  keeper: ['keeper-health', 'keeper-requests', 'keeper-wait-time', 'keeper-connection-events'],
  logs: ['log-level-distribution', 'error-rate-over-time', 'crash-frequency'],
  merges: ['merge-count', 'merge-avg-duration', 'new-parts-created', 'merge-timeline', 'mutation-progress'],
  queries: [
    'query-count',
    'failed-query-count',
    'query-duration-percentiles',
    'query-memory',
    'query-count-by-user',
    'query-type',
    'top-query-fingerprints',
    'slow-query-occurrences',
    'slow-query-regressions',
  ],
  'query-insights': [
    'query-insights-qps',
    'query-insights-latency',
    'query-insights-errors',
    'query-insights-memory',
    'query-insights-read-throughput',
    'query-insights-top-users',
  ],
  replication: ['replication-lag-trend', 'replication-lag', 'replication-queue-count', 'readonly-replica'],
  system: [
    'cpu-usage',
    'memory-usage',
    'cpu-load-average',
    'disk-usage-trend',
    'disk-io-throughput',
    'memory-breakdown',
    'disks-usage',
    'thread-pool-utilization',
  ],
  tables: ['top-table-size', 'disk-usage-by-database', 'parts-per-table', 'partition-part-health', 'partition-sizes'],
  traffic: [
    'traffic-summary',
    'traffic-ingest-speed',
    'traffic-inserted-rows',
    'traffic-inserted-bytes',
    'traffic-insert-queries',
    'traffic-network',
    'traffic-disk-write-speed',
  ],
}

/** Position of a definition within its topic, before the alphabet decides. */
export const useOrder = (first: typeof firstTables, topic: string, name: string): number => {
  const names = first[topic] ?? []
  const position = names.indexOf(name)
  return position === -1 ? names.length : position
}
