/** Rows of the log tables live this long, so that a sandbox that runs for months stays small. */
const LOG_DAYS = 7

// Tables about people's statements are written within a second. The others get rows all the time, partly from the
// writing of logs itself, and keep the interval of a server.
const FLUSH_INTERVAL_MS = 7500
const PROMPT_FLUSH_INTERVAL_MS = 1000
const PROMPT = new Set(['asynchronous_insert_log', 'backup_log', 'query_log', 'query_views_log', 'session_log'])
// Merged parts are dropped soon, because the next start would have to load them.
const STORAGE = 'old_parts_lifetime = 5'

/** Every log table that this engine version can write, by the name it has in `system` and in the configuration. */
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

/** The section of the server configuration that makes the engine keep these tables itself. */
export function serverLogsXml(): string {
  return SERVER_LOGS.map((name) => {
    const day = name === 'opentelemetry_span_log' ? 'finish_date' : 'event_date'
    const flushMs = PROMPT.has(name) ? PROMPT_FLUSH_INTERVAL_MS : FLUSH_INTERVAL_MS
    return `  <${name}>
    <database>system</database><table>${name}</table>
    <ttl>${day} + INTERVAL ${LOG_DAYS} DAY DELETE</ttl><settings>${STORAGE}</settings>
    <flush_interval_milliseconds>${flushMs}</flush_interval_milliseconds>
  </${name}>`
  }).join('\n')
}
