/** Ports of a ClickHouse server that runs next to others on one machine. */
export interface ServerPorts {
  http: number
  native: number
  interserver: number
}

/** Log tables that the configuration in the official image enables and the server defaults do not. */
const logs = [
  'query_log',
  'query_thread_log',
  'part_log',
  'metric_log',
  'asynchronous_metric_log',
  'trace_log',
  'crash_log',
  'processors_profile_log',
]
/** The span log has no column `event_date`, by which the server would partition it. */
const spanLogEngine = 'ENGINE = MergeTree PARTITION BY toYYYYMM(finish_date) ORDER BY (finish_date, finish_time_us)'
const markCacheBytes = 268_435_456

/** Returns the part of the server configuration that the official image would contain: paths, ports and log tables. */
export const formatLocalServerConfig = (
  directory: string,
  { http, native, interserver }: ServerPorts,
): string => `<clickhouse>
  <logger><level>information</level><log>${directory}/server.log</log></logger>
  <http_port>${http}</http_port>
  <tcp_port>${native}</tcp_port>
  <interserver_http_port>${interserver}</interserver_http_port>
  <path>${directory}/data/</path>
  <tmp_path>${directory}/tmp/</tmp_path>
  <user_files_path>${directory}/user_files/</user_files_path>
  <format_schema_path>${directory}/format_schemas/</format_schema_path>
  <user_directories>
    <users_xml><path>${directory}/users.xml</path></users_xml>
    <local_directory><path>${directory}/access/</path></local_directory>
  </user_directories>
  <mark_cache_size>${markCacheBytes}</mark_cache_size>
  <distributed_ddl><path>/clickhouse/task_queue/ddl</path></distributed_ddl>
  ${logs.map((log) => `<${log}><database>system</database><table>${log}</table></${log}>`).join('\n  ')}
  <opentelemetry_span_log><database>system</database><table>opentelemetry_span_log</table><engine>${spanLogEngine}</engine></opentelemetry_span_log>
</clickhouse>
`

export const localUsersConfig = `<clickhouse>
  <profiles><default></default></profiles>
  <quotas><default></default></quotas>
  <users><default><profile>default</profile><quota>default</quota></default></users>
</clickhouse>
`
