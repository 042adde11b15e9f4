import type { ChartTopic } from '#proto/catalogue.ts'

/** The folders of `charts/` in menu order. Other folders follow, with titles derived from their names. */
export const topics: readonly ChartTopic[] = [
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

/** Returns the topic of a folder, with a title derived from its name when the folder is not listed. */
export const findTopic = (id: string): ChartTopic =>
  topics.find((topic) => topic.id === id) ?? {
    id,
    title: id.charAt(0).toUpperCase() + id.slice(1).replaceAll('-', ' '),
  }

/** Returns the position of a topic in the menu. Topics that are not listed share the last one. */
export const findTopicPosition = (id: string): number => {
  const position = topics.findIndex((topic) => topic.id === id)
  return position === -1 ? topics.length : position
}

/** The most important tables of each topic, in menu order. All others follow alphabetically. */
export const leadingTables: Readonly<Record<string, readonly string[]>> = {
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

/** The most important charts of each topic, in menu order. All others follow alphabetically. */
export const leadingCharts: Readonly<Record<string, readonly string[]>> = {
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

/** Returns the position of a definition within its topic. Definitions with equal positions are sorted by name. */
export const findDefinitionPosition = (first: typeof leadingTables, topic: string, name: string): number => {
  const names = first[topic] ?? []
  const position = names.indexOf(name)
  return position === -1 ? names.length : position
}
