/** TTL of the log tables in days, so that a sandbox that runs for months stays small. */
const LOG_TTL_DAYS = 7

// Flush interval of most logs, which is the default of a server. They receive rows continuously, partly because of the
// flushes themselves. Logs of statements are flushed within a second.
const FLUSH_INTERVAL_MS = 7500
const PROMPT_FLUSH_INTERVAL_MS = 1000
// Wide tables are flushed less often: the next start reads all of their parts, and their charts have a resolution of
// minutes.
const WIDE_FLUSH_INTERVAL_MS = 30_000
const PROMPT_LOGS = new Set(['asynchronous_insert_log', 'backup_log', 'query_log', 'query_views_log', 'session_log'])
// Inactive parts are removed early, because the next start would load them.
const STORAGE_SETTINGS = 'old_parts_lifetime = 5'
// Tables with more than a thousand columns use compact parts without serialization files for each column. Reading these
// files took most of the next start.
const WIDE_LOGS = new Set(['metric_log', 'query_metric_log'])
const WIDE_STORAGE_SETTINGS = [
  STORAGE_SETTINGS,
  'min_bytes_for_wide_part = 10000000000',
  'ratio_of_defaults_for_sparse_serialization = 1',
  'write_marks_for_substreams_in_compact_parts = 0',
].join(', ')

/** The log tables that this engine version writes. Their names in the configuration are the same. */
export const SERVER_LOGS = [
  'aggregated_zookeeper_log',
  'asynchronous_insert_log',
  'asynchronous_metric_log',
  'azure_queue_log',
  'background_schedule_pool_log',
  'backup_log',
  'blob_storage_log',
  'crash_log',
  'delta_lake_metadata_log',
  'error_log',
  'filesystem_cache_log',
  'filesystem_read_prefetches_log',
  'iceberg_metadata_log',
  'metric_log',
  'opentelemetry_span_log',
  'part_log',
  'processors_profile_log',
  'query_log',
  'query_metric_log',
  'query_thread_log',
  'query_views_log',
  's3queue_log',
  'session_log',
  'text_log',
  'trace_log',
  'zookeeper_connection_log',
  'zookeeper_log',
]

/** Returns the section of the server configuration that enables the log tables. */
export function formatServerLogsXml(): string {
  return SERVER_LOGS.map((name) => {
    const day = name === 'opentelemetry_span_log' ? 'finish_date' : 'event_date'
    return `  <${name}>
    <database>system</database><table>${name}</table>
    <ttl>${day} + INTERVAL ${LOG_TTL_DAYS} DAY DELETE</ttl><settings>${WIDE_LOGS.has(name) ? WIDE_STORAGE_SETTINGS : STORAGE_SETTINGS}</settings>
    <flush_interval_milliseconds>${chooseFlushIntervalMs(name)}</flush_interval_milliseconds>
  </${name}>`
  }).join('\n')
}

const chooseFlushIntervalMs = (name: string): number => {
  if (WIDE_LOGS.has(name)) return WIDE_FLUSH_INTERVAL_MS
  return PROMPT_LOGS.has(name) ? PROMPT_FLUSH_INTERVAL_MS : FLUSH_INTERVAL_MS
}
