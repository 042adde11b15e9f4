import { fakeReplicaStatements } from './fake-tables.ts'

/** The common prefix of four slow statements, which form one query pattern. */
export const slowStatementPrefix = 'SELECT count() AS peculiar FROM shop.orders WHERE amount > '

/** Statements that create the example data for tests of agent tools. */
export const exampleDataStatements: readonly string[] = [
  'CREATE DATABASE shop',
  'CREATE TABLE shop.orders (id UInt64, status LowCardinality(String), amount UInt32) ENGINE = MergeTree ORDER BY id',
  "INSERT INTO shop.orders SELECT number, ['new', 'paid', 'sent'][1 + number % 3], number % 100 FROM numbers(3000)",
  'CREATE TABLE shop.customers (id UInt64) ENGINE = MergeTree ORDER BY id',
  'INSERT INTO shop.customers SELECT number FROM numbers(200)',
  'CREATE DATABASE archive',
  'CREATE TABLE archive.imports (n UInt64, v UInt8) ENGINE = MergeTree ORDER BY n',
  'INSERT INTO archive.imports VALUES (1, 1)',
  'ALTER TABLE archive.imports UPDATE v = throwIf(n > 0) WHERE 1 SETTINGS mutations_sync = 0',
  'CREATE DATABASE crumbs',
  'CREATE TABLE crumbs.wide (n UInt64) ENGINE = MergeTree ORDER BY n',
  'INSERT INTO crumbs.wide SELECT number FROM numbers(100000)',
  'OPTIMIZE TABLE crumbs.wide FINAL',
  'CREATE TABLE crumbs.`odd ``name` (p UInt8, n UInt64) ENGINE = MergeTree ORDER BY n',
  'SYSTEM STOP MERGES crumbs.`odd ``name`',
  ...[0, 1, 2].map((p) => `INSERT INTO crumbs.\`odd \`\`name\` SELECT ${p}, number FROM numbers(1000)`),
  'CREATE TABLE crumbs.loose (n UInt64, word Nullable(String)) ENGINE = MergeTree ORDER BY n',
  'INSERT INTO crumbs.loose SELECT number, toString(cityHash64(number)) FROM numbers(200000)',
  'CREATE TABLE crumbs.three (n UInt64) ENGINE = MergeTree ORDER BY n',
  ...[0, 1, 2].map((n) => `INSERT INTO crumbs.three VALUES (${n})`),
  'CREATE TABLE crumbs.many (n UInt64) ENGINE = MergeTree ORDER BY n',
  'SYSTEM STOP MERGES crumbs.many',
  'INSERT INTO crumbs.many SELECT number FROM numbers(60) SETTINGS max_block_size = 1, min_insert_block_size_rows = 1',
  // This statement logs five days of growing disk usage.
  `INSERT INTO system.asynchronous_metric_log (event_date, event_time, metric, value)
  SELECT toDate(at), at, pair.1, pair.2
  FROM (SELECT number AS hour, toDateTime(now() - number * 3600 - 1800) AS at, total_space AS total FROM numbers(120) AS hours, system.disks AS disks WHERE disks.name = 'default')
  ARRAY JOIN [('DiskUsed_default', total * (0.5 - hour / 1000)), ('DiskTotal_default', toFloat64(total))] AS pair`,
  ...fakeReplicaStatements,
  ...[1, 2, 3, 4].map((amount) => `${slowStatementPrefix}${amount}`),
]

/** Statements that log two weeks of queries. In the last hour, 40% of the queries fail; before that, 1%. */
export const recentFailureStatements: readonly string[] = [
  'SYSTEM FLUSH LOGS query_log',
  'ALTER TABLE system.query_log REMOVE TTL SETTINGS log_queries = 0',
  `INSERT INTO system.query_log (type, event_date, event_time, query_start_time, query_duration_ms, memory_usage, query, normalized_query_hash, query_kind, is_initial_query, exception_code, user)
SELECT if(fails, 'ExceptionWhileProcessing', 'QueryFinish'), toDate(at), at, at, 100 + hash % 30, 1000000, 'SELECT', 40, 'Select', 1, if(fails, 60, 0), 'reports'
FROM (
  SELECT intDiv(number, 40) AS hour, cityHash64(number) AS hash, toDateTime(now() - hour * 3600 - 1800) AS at, hash % 100 < if(hour = 0, 40, 1) AS fails
  FROM numbers(14400)
) SETTINGS log_queries = 0`,
]
