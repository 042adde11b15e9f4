import type { Feature } from '#proto/call.ts'
import type { Host } from '#proto/host.ts'
import type { ToolContext } from '#shared/tools/tool.ts'
import { readTableSchema } from '../table-schema.ts'

/** A static Markdown text for models, which is the same for every host. */
export interface StaticResource {
  name: string
  uri: string
  title: string
  description: string
  text: string
}

/** A resource with data about a host. `path` is the part of its URI after the host, with variables in braces. */
export interface HostResource {
  name: string
  path: string
  title: string
  description: string
  feature: Feature
  read(names: Readonly<Record<string, string>>, host: Host, context: ToolContext): Promise<unknown>
}

const scheme = 'columndb://'

/** Returns the URIs of a host resource: one for the first host, and a URI template for any host. */
export const createResourceUris = (path: string) => ({
  ofFirst: `${scheme}${path}`,
  ofAny: `${scheme}hosts/{hostId}/${path}`,
})

const maxParts = 1_000

/** All resources with data about a host. */
export const hostResources: readonly HostResource[] = [
  {
    name: 'databases',
    path: 'databases',
    title: 'Databases',
    description: 'Databases and their contents',
    feature: 'TABLES',
    read: (_names, { key }, { query, call }) => query.exploreDatabases({ hostKey: key }, call),
  },
  {
    name: 'tables',
    path: 'databases/{database}/tables',
    title: 'Tables of a database',
    description: 'Tables, views and dictionaries of a database',
    feature: 'TABLES',
    read: ({ database = '' }, { key }, { query, call }) => query.exploreTables({ hostKey: key, database }, call),
  },
  {
    name: 'table-schema',
    path: 'databases/{database}/tables/{table}/schema',
    title: 'Schema of a table',
    description: 'Columns, engine and keys of a table',
    feature: 'TABLES',
    read: ({ database = '', table = '' }, host, context) => readTableSchema(context, host, { database, table }),
  },
  {
    name: 'table-parts',
    path: 'databases/{database}/tables/{table}/parts',
    title: 'Parts of a table',
    description: 'Active parts of a table, largest first',
    feature: 'TABLES',
    read: ({ database = '', table = '' }, { key }, { query, call }) =>
      query.exploreParts({ hostKey: key, database, table, limit: maxParts }, call),
  },
]

const systemTables = `# System tables of ClickHouse

Read them with the \`query\` tool. Logs are written every few seconds; operators configure their retention.
Restrict them by \`event_date\` and \`event_time\`.

| Table | Contents |
|---|---|
| system.processes | running statements: elapsed, read_rows, memory_usage |
| system.query_log | finished statements; \`type\` is QueryFinish or an exception; group by \`normalized_query_hash\` |
| system.query_thread_log, system.query_views_log | threads and materialized views of a statement |
| system.parts, system.part_log | parts of tables; creation, merge and removal of parts |
| system.merges, system.mutations | running merges; mutations and why they failed |
| system.replicas, system.replication_queue | state of replicated tables; pending tasks of replicas |
| system.distribution_queue | inserts that wait to be sent to shards |
| system.tables, system.columns, system.databases | databases, tables and columns |
| system.data_skipping_indices, system.projections | data skipping indexes and projections |
| system.dictionaries, system.view_refreshes | dictionaries; refreshable materialized views |
| system.disks, system.storage_policies | disks and their free space |
| system.metrics, system.events, system.asynchronous_metrics | gauges; counters since the start; periodic gauges |
| system.metric_log, system.asynchronous_metric_log | the same over time |
| system.errors, system.warnings | errors by code since the start; warnings of the server |
| system.settings, system.server_settings, system.merge_tree_settings | settings and whether they were changed |
| system.clusters, system.zookeeper_connection | shards and replicas; the coordination service |
| system.users, system.roles, system.grants | users, roles and their privileges |
`

const queryExamples = `# Example statements

Largest tables:
\`\`\`sql
SELECT database, table, formatReadableSize(sum(bytes_on_disk)) AS size, sum(rows) AS rows, count() AS parts
FROM system.parts WHERE active GROUP BY database, table ORDER BY sum(bytes_on_disk) DESC LIMIT 20
\`\`\`

Patterns of statements that took the most time in the last day:
\`\`\`sql
SELECT normalized_query_hash, any(normalizeQuery(query)) AS pattern, count() AS calls, sum(query_duration_ms) AS total_ms
FROM system.query_log
WHERE type = 'QueryFinish' AND event_date >= yesterday() AND event_time >= now() - INTERVAL 1 DAY
GROUP BY normalized_query_hash ORDER BY total_ms DESC LIMIT 20
\`\`\`

Failures of the last hour, by error code:
\`\`\`sql
SELECT exception_code, errorCodeToName(exception_code) AS error, count() AS failures, any(exception) AS example
FROM system.query_log
WHERE type != 'QueryStart' AND exception_code != 0 AND event_date >= yesterday() AND event_time >= now() - INTERVAL 1 HOUR
GROUP BY exception_code ORDER BY failures DESC
\`\`\`

Partitions with the most parts:
\`\`\`sql
SELECT database, table, partition, count() AS parts FROM system.parts
WHERE active GROUP BY database, table, partition ORDER BY parts DESC LIMIT 20
\`\`\`

Replicas that lag or cannot write:
\`\`\`sql
SELECT database, table, is_readonly, absolute_delay, queue_size FROM system.replicas
ORDER BY is_readonly DESC, absolute_delay DESC LIMIT 20
\`\`\`

Unfinished mutations:
\`\`\`sql
SELECT database, table, mutation_id, create_time, parts_to_do, latest_fail_reason FROM system.mutations
WHERE NOT is_done ORDER BY create_time LIMIT 20
\`\`\`

Free space on disks:
\`\`\`sql
SELECT name, formatReadableSize(free_space) AS free, round(100 * free_space / total_space, 1) AS free_percent
FROM system.disks WHERE total_space > 0 ORDER BY free_percent
\`\`\`
`

/** Static texts for models. */
export const staticResources: readonly StaticResource[] = [
  {
    name: 'system-tables',
    uri: 'columndb://system-tables',
    title: 'System tables',
    description: 'The contents of the system tables',
    text: systemTables,
  },
  {
    name: 'query-examples',
    uri: 'columndb://query-examples',
    title: 'Query examples',
    description: 'Example statements about size, time, failures and replicas',
    text: queryExamples,
  },
]
