/** A tool result with the text of the call that returned it. */
export interface ClaimResult {
  request: string
  value: unknown
  summary: string
  rowCount: number
}

/** Creates the result of a statement. */
const createResult = (
  sql: string,
  columns: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): ClaimResult => ({
  request: `query\n${sql}\n{}`,
  value: {
    columns: columns.map((name) => ({ name, type: 'String' })),
    rows,
    truncated: null,
    rowsRead: 7,
    durationMs: 3,
  },
  summary: `${rows.length} ${rows.length === 1 ? 'row' : 'rows'}, complete.`,
  rowCount: rows.length,
})

/** Creates the result of a statement that counts parts. */
export const createCount = (count: number, name = 'count()'): ClaimResult =>
  createResult('SELECT count() FROM system.parts', [name], [[count]])

export const tableParts = createResult(
  'SELECT database, table, count() AS parts, sum(rows) AS rows, sum(bytes_on_disk) AS bytes_on_disk FROM system.parts WHERE active GROUP BY database, table',
  ['database', 'table', 'parts', 'rows', 'bytes_on_disk'],
  [
    ['shop', 'orders', 300, '1234567', '5368709120'],
    ['shop', 'lines', 150, '98765432', '161061273600'],
    ['logs', 'hits', 36, '4321', '1048576'],
  ],
)
export const failedMutations = createResult(
  "SELECT count() AS failed_mutations FROM system.mutations WHERE latest_fail_reason != ''",
  ['failed_mutations'],
  [[4]],
)
export const noFailedMutations = createResult(
  "SELECT count() AS failed_mutations FROM system.mutations WHERE latest_fail_reason != ''",
  ['failed_mutations'],
  [[0]],
)
export const noReplicas = createResult(
  'SELECT database, table FROM system.replicas WHERE is_readonly',
  ['database', 'table'],
  [],
)
export const metrics = createResult(
  'SELECT metric, value FROM system.metrics',
  ['metric', 'value'],
  [
    ['Query', 17],
    ['TCPConnection', 240],
    ['HTTPConnection', 36],
  ],
)
export const crashes = createResult(
  'SELECT event_time, signal, query_id, version FROM system.crash_log',
  ['event_time', 'signal', 'query_id', 'version'],
  [
    ['2026-11-12 03:41:07', 11, 'query-81', '24.8.2.3'],
    ['2026-11-18 22:15:30', 6, 'query-82', '24.8.4.13'],
  ],
)
export const flushes = createResult(
  'SELECT table, status, count() AS flushes, quantile(0.99)(flush_ms) AS p99 FROM flushes GROUP BY table, status',
  ['table', 'status', 'flushes', 'p99'],
  [
    ['events', 'Ok', 12400, 240],
    ['events', 'FlushError', 31, 5000],
    ['audit', 'Ok', 620, 88],
    ['audit', 'ParsingError', 5, 12],
  ],
)
export const disks = createResult(
  'SELECT name, free_space, total_space FROM system.disks',
  ['name', 'free_space', 'total_space'],
  [
    ['default', 214748364800, 1073741824000],
    ['cold', 3298534883328, 4398046511104],
  ],
)
export const unfinishedMutations = createResult(
  'SELECT database, table, mutation_id, parts_to_do, is_done, latest_fail_reason FROM system.mutations WHERE NOT is_done',
  ['database', 'table', 'mutation_id', 'parts_to_do', 'is_done', 'latest_fail_reason'],
  [
    ['shop', 'orders', 'mutation_17.txt', 47, 0, 'Code: 241. DB::Exception: Memory limit exceeded'],
    ['shop', 'lines', 'mutation_18.txt', 12, 0, ''],
    ['logs', 'hits', 'mutation_21.txt', 3, 0, ''],
  ],
)
export const queriesPerHour = createResult(
  'SELECT toStartOfHour(event_time) AS hour, count() AS queries, countIf(exception_code != 0) AS failed, quantile(0.95)(query_duration_ms) AS p95_ms FROM system.query_log GROUP BY hour ORDER BY hour',
  ['hour', 'queries', 'failed', 'p95_ms'],
  [
    ['2026-11-27 10:00:00', '1200', '6', 180.4],
    ['2026-11-27 11:00:00', '2400', '48', 410.9],
    ['2026-11-27 12:00:00', '600', '0', 95],
  ],
)
export const cluster: ClaimResult = {
  request: 'get_cluster_health',
  value: {
    healthy: 3,
    unreachable: 1,
    hosts: [
      {
        name: 's1r1',
        cpuPercent: 82.5,
        memoryUsedBytes: 51539607552,
        memoryTotalBytes: 68719476736,
        activeQueries: 14,
      },
      {
        name: 's1r2',
        cpuPercent: 41.25,
        memoryUsedBytes: 34359738368,
        memoryTotalBytes: 68719476736,
        activeQueries: 7,
      },
      { name: 's2r1', cpuPercent: 9, memoryUsedBytes: 8589934592, memoryTotalBytes: 68719476736, activeQueries: 0 },
    ],
  },
  summary: '4 hosts: 3 healthy, 1 unreachable.',
  rowCount: 4,
}
export const replicas = createResult(
  'SELECT host, database, table, absolute_delay AS delay_seconds, queue_size, inserts_in_queue, merges_in_queue FROM system.replicas',
  ['host', 'database', 'table', 'delay_seconds', 'queue_size', 'inserts_in_queue', 'merges_in_queue'],
  [
    ['s1r1', 'shop', 'orders', 4320, 85, 60, 25],
    ['s1r2', 'shop', 'orders', 12, 3, 2, 1],
    ['s2r1', 'shop', 'orders', 0, 0, 0, 0],
  ],
)
export const merges = createResult(
  'SELECT table, elapsed, progress, num_parts, total_size_bytes_compressed FROM system.merges',
  ['table', 'elapsed', 'progress', 'num_parts', 'total_size_bytes_compressed'],
  [
    ['orders', 4320.5, 0.375, 12, '53687091200'],
    ['lines', 95.2, 0.9, 6, '2147483648'],
  ],
)
export const host = createResult(
  'SELECT hostName() AS host, version() AS version, uptime() AS uptime_seconds',
  ['host', 'version', 'uptime_seconds'],
  [['s1r1', '25.8.1.5101', 266400]],
)
export const slowQueries = createResult(
  'SELECT query_id, user, query_duration_ms, read_rows, read_bytes, memory_usage, exception_code FROM system.query_log ORDER BY query_duration_ms DESC LIMIT 3',
  ['query_id', 'user', 'query_duration_ms', 'read_rows', 'read_bytes', 'memory_usage', 'exception_code'],
  [
    ['a1b2c3d4-1111-2222-3333-444455556666', 'reports', 45210, '2500000000', '82463372083', '12884901888', 0],
    ['b1b2c3d4-1111-2222-3333-444455556666', 'etl', 9000, '1200', '98304', '104857600', 241],
    ['c1b2c3d4-1111-2222-3333-444455556666', 'ada', 850, '88000', '7340032', '52428800', 0],
  ],
)
export const errors = createResult(
  'SELECT name, code, value, last_error_time FROM system.errors',
  ['name', 'code', 'value', 'last_error_time'],
  [
    ['MEMORY_LIMIT_EXCEEDED', 241, '127', '2026-11-27 14:03:12'],
    ['TOO_MANY_PARTS', 252, '18', '2026-11-27 09:55:01'],
    ['NETWORK_ERROR', 210, '3', '2026-11-26 22:10:44'],
  ],
)
export const backups = createResult(
  'SELECT name, status, num_files, total_size, start_time, end_time FROM system.backups',
  ['name', 'status', 'num_files', 'total_size', 'start_time', 'end_time'],
  [
    ['Disk(backups, full.zip)', 'BACKUP_CREATED', '1523', '7516192768', '2026-11-26 01:00:02', '2026-11-26 01:14:40'],
    ['Disk(backups, inc.zip)', 'BACKUP_FAILED', '211', '12582912', '2026-11-27 01:00:01', '2026-11-27 01:01:09'],
  ],
)
export const queriesOfUsers = createResult(
  'SELECT user, count() AS queries, countIf(exception_code != 0) AS failures, sum(read_rows) AS rows_read, avg(query_duration_ms) AS avg_ms FROM system.query_log GROUP BY user',
  ['user', 'queries', 'failures', 'rows_read', 'avg_ms'],
  [
    ['ada', '900', '9', '1800000', 25.5],
    ['bob', '100', '25', '64000000', 1500],
    ['etl', '3000', '0', '1200000000', 320.25],
  ],
)
export const detached = createResult(
  'SELECT database, table, reason, count() AS c FROM system.detached_parts GROUP BY ALL',
  ['database', 'table', 'reason', 'c'],
  [
    ['shop', 'orders', 'broken', 4],
    ['shop', 'lines', 'ignored', 9],
  ],
)
export const keeper: ClaimResult = {
  request: 'get_keeper_status',
  value: {
    isLeader: true,
    avgLatencyMs: 3,
    maxLatencyMs: 812,
    znodes: 48213,
    watches: 1207,
    outstandingRequests: 0,
    followers: 2,
  },
  summary: 'Keeper is reachable, latency 3 ms.',
  rowCount: 1,
}
export const tables = createResult(
  "SELECT name, engine, total_rows FROM system.tables WHERE database = 'shop'",
  ['name', 'engine', 'total_rows'],
  [
    ['orders', 'MergeTree', '1000000'],
    ['lines', 'MergeTree', '25000000'],
    ['stock', 'Log', '300'],
    ['audit', 'ReplicatedMergeTree', '0'],
  ],
)
export const queryPatterns = createResult(
  'SELECT normalized_query_hash, any(query) AS q, count() AS executions, sum(query_duration_ms) AS total_ms, max(query_duration_ms) AS max_ms, formatReadableSize(max(memory_usage)) AS peak_memory FROM system.query_log WHERE event_date >= today() - 7 GROUP BY 1 ORDER BY total_ms DESC LIMIT 10',
  ['normalized_query_hash', 'q', 'executions', 'total_ms', 'max_ms', 'peak_memory'],
  [
    ['9137243', 'SELECT * FROM events', 1520, '7600000', 61200, '18.25 GiB'],
    ['55120021', 'SELECT count() FROM orders', 88000, '1760000', 430, '12.00 MiB'],
    ['77', 'INSERT INTO audit', 410, '8200', 95, '4.50 MiB'],
  ],
)
export const columnSizes = createResult(
  'SELECT table, column, formatReadableSize(data_compressed_bytes) AS compressed, formatReadableSize(data_uncompressed_bytes) AS uncompressed, round(data_uncompressed_bytes / data_compressed_bytes, 2) AS ratio FROM system.columns',
  ['table', 'column', 'compressed', 'uncompressed', 'ratio'],
  [
    ['events', 'payload', '40.10 GiB', '401.00 GiB', 10],
    ['events', 'ts', '1.20 GiB', '6.00 GiB', 5],
    ['events', 'id', '8.00 GiB', '8.80 GiB', 1.1],
  ],
)
export const distributionQueue = createResult(
  'SELECT table, is_blocked, error_count, data_files, data_compressed_bytes, last_exception FROM system.distribution_queue',
  ['table', 'is_blocked', 'error_count', 'data_files', 'data_compressed_bytes', 'last_exception'],
  [
    ['events_dist', 1, 57, 1204, '3221225472', 'Code: 210. Connection refused (s2r1:9000)'],
    ['logs_dist', 0, 0, 3, '20480', ''],
  ],
)
export const processes = createResult(
  'SELECT query_id, user, elapsed, read_rows, memory_usage FROM system.processes',
  ['query_id', 'user', 'elapsed', 'read_rows', 'memory_usage'],
  [['q-77', 'ada', 754.2, '91000000', '2147483648']],
)
export const replication: ClaimResult = {
  request: 'get_replication_status',
  value: {
    tables: [
      { table: 'orders', readonly: false, queueSize: 14, delaySeconds: 3, activeReplicas: 2, totalReplicas: 3 },
      { table: 'lines', readonly: true, queueSize: 0, delaySeconds: 0, activeReplicas: 3, totalReplicas: 3 },
    ],
  },
  summary: '2 replicated tables; 1 is read-only.',
  rowCount: 2,
}
export const insertsPerDay = createResult(
  "SELECT toDate(event_time) AS day, count() AS inserts, sum(rows) AS rows FROM system.part_log WHERE event_type = 'NewPart' GROUP BY day",
  ['day', 'inserts', 'rows'],
  [
    ['2026-11-25', '5000', '2500000'],
    ['2026-11-26', '7500', '3000000'],
    ['2026-11-27', '15000', '3100000'],
  ],
)
export const dictionaries = createResult(
  'SELECT name, status, element_count, bytes_allocated, loading_duration, last_exception FROM system.dictionaries',
  ['name', 'status', 'element_count', 'bytes_allocated', 'loading_duration', 'last_exception'],
  [
    ['geo', 'LOADED', '250000', '73400320', 3.2, ''],
    ['rates', 'FAILED', '0', '0', 0, 'Code: 279. Timeout after 5 seconds'],
  ],
)
export const overview: ClaimResult = {
  request: 'get_host_overview',
  value: {
    host: 's1r1',
    cpuCores: 16,
    loadAverage: 24.5,
    memoryUsedBytes: 25769803776,
    memoryTotalBytes: 34359738368,
    runningQueries: 38,
    maxConcurrentQueries: 100,
    uptimeSeconds: 604800,
    activeParts: 12850,
    replicationLagSeconds: 0,
    findings: [
      { severity: 'warning', title: 'High load' },
      { severity: 'critical', title: 'Memory pressure' },
      { severity: 'info', title: 'Old version' },
    ],
  },
  summary: 'Host s1r1: 3 findings.',
  rowCount: 1,
}
export const partitions = createResult(
  "SELECT partition, count() AS parts, sum(rows) AS rows, sum(bytes_on_disk) AS size FROM system.parts WHERE table = 'hits' GROUP BY partition",
  ['partition', 'parts', 'rows', 'size'],
  [
    ['202609', '12', '40000000', '4294967296'],
    ['202610', '18', '60000000', '6442450944'],
    ['202611', '90', '50000000', '5368709120'],
  ],
)
export const kafkaConsumers = createResult(
  'SELECT table, consumer_id, num_messages_read, num_commits, num_rebalance_revocations, exceptions FROM system.kafka_consumers',
  ['table', 'consumer_id', 'num_messages_read', 'num_commits', 'num_rebalance_revocations', 'exceptions'],
  [
    ['clicks_queue', 'c-1', '5400000', '1080', '2', 7],
    ['views_queue', 'c-2', '120', '4', '0', 0],
  ],
)
export const replicaStates = createResult(
  'SELECT database, table, replica_name, is_leader, is_readonly, queue_size, log_pointer, total_replicas, active_replicas FROM system.replicas',
  [
    'database',
    'table',
    'replica_name',
    'is_leader',
    'is_readonly',
    'queue_size',
    'log_pointer',
    'total_replicas',
    'active_replicas',
  ],
  [
    ['web', 'hits', 'r1', 1, 0, 125, 90211, 3, 2],
    ['web', 'visits', 'r1', 1, 1, 4, 512, 3, 3],
  ],
)
export const slowestQueries: ClaimResult = {
  request: 'get_slow_queries',
  value: {
    windowMinutes: 60,
    queries: [
      {
        queryId: '8f14e45f',
        user: 'bi',
        durationMs: 128400,
        readRows: 4800000000,
        readBytes: 193273528320,
        memoryBytes: 21474836480,
        resultRows: 12,
      },
      {
        queryId: 'c9f0f895',
        user: 'etl',
        durationMs: 64200,
        readRows: 1200000000,
        readBytes: 64424509440,
        memoryBytes: 5368709120,
        resultRows: 0,
      },
      {
        queryId: '45c48cce',
        user: 'bi',
        durationMs: 32100,
        readRows: 90000000,
        readBytes: 1073741824,
        memoryBytes: 536870912,
        resultRows: 1000,
      },
    ],
  },
  summary: '3 slow queries in the last 60 minutes; the slowest took 128.4 s.',
  rowCount: 3,
}
export const inserts = createResult(
  'SELECT table, count() AS inserts, sum(rows) AS rows, avg(rows) AS rows_per_insert, max(query_duration_ms) AS max_ms FROM system.query_log GROUP BY table',
  ['table', 'inserts', 'rows', 'rows_per_insert', 'max_ms'],
  [
    ['hits', '86400', '864000', 10, 95],
    ['visits', '24', '24000000', 1000000, 8200],
  ],
)
