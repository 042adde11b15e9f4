/**
 * Returns a value that serializes to the time `seconds` ago, as epoch seconds multiplied by `perSecond`. The time is
 * relative to the serialization.
 */
export const createPastTime = (seconds: number, perSecond = 1) => ({
  toJSON: () => (Math.floor(Date.now() / 1_000) - seconds) * perSecond,
})

type Rows = Readonly<Record<string, readonly object[]>>

/** Rows of system tables that make a rule fire (`trouble`), and rows that do not (`relief`). */
export interface RuleCase {
  rule: string
  trouble: Rows
  /** The value that the rule measures; for counters, the increase from an empty table. */
  measured: number
  severity: 'warning' | 'critical'
  relief: Rows
}

const day = 86_400
const hour = 3_600
const minute = 60
const metric = (name: string, value: number) => ({ metric: name, value })
const many = <T>(count: number, row: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => row(index))
/** Returns running queries of other applications. */
export const createRunningQueryRows = (count: number) =>
  many(count, (index) => ({ query_id: `of-application-${index}` }))
/** Rows for statements of Watchhouse, with and without a log comment, which read-only users cannot set. */
export const ownStatements = [
  { http_user_agent: 'watchhouse', Settings: { log_comment: '{"watchhouse":"rules"}' } },
  { http_user_agent: 'watchhouse' },
]
/** A statement that a user runs in the console. */
export const consoleStatementRow = {
  http_user_agent: 'watchhouse',
  Settings: { log_comment: '{"watchhouse":"console"}' },
}
const table = { database: 'shop', table: 'orders' }

/** Cases that rule files cannot express: rows with an age, and large numbers of rows. */
export const ruleCases: readonly RuleCase[] = [
  {
    rule: 'running-queries',
    trouble: {
      processes: [...createRunningQueryRows(99), ...ownStatements, consoleStatementRow],
      metrics: [metric('PendingAsyncInsert', 5)],
      server_settings: [{ name: 'max_concurrent_queries', value: '100' }],
    },
    measured: 95,
    severity: 'critical',
    relief: {
      processes: [...createRunningQueryRows(79), ...ownStatements],
      metrics: [],
      server_settings: [{ name: 'max_concurrent_queries', value: '0' }],
    },
  },
  {
    rule: 'inactive-parts',
    trouble: { parts: many(2_000, () => ({ ...table, active: 0 })) },
    measured: 2_000,
    severity: 'warning',
    relief: { parts: [{ ...table, active: 1 }] },
  },
  {
    rule: 'partitions-per-table',
    trouble: { parts: many(1_001, (index) => ({ ...table, active: 1, partition_id: String(index) })) },
    measured: 1_001,
    severity: 'warning',
    relief: { parts: many(20, () => ({ ...table, active: 1, partition_id: 'all' })) },
  },
  {
    rule: 'mutations-pending',
    trouble: { mutations: [...many(100, () => table), { ...table, is_done: 1 }] },
    measured: 100,
    severity: 'warning',
    relief: { mutations: [{ ...table, is_done: 1 }] },
  },
  {
    rule: 'failed-mutations',
    trouble: { mutations: [{ ...table, create_time: createPastTime(7 * hour), latest_fail_reason: 'no' }] },
    measured: 7 * hour,
    severity: 'critical',
    relief: { mutations: [{ ...table, create_time: createPastTime(7 * hour) }] },
  },
  {
    rule: 'mutation-old',
    trouble: {
      mutations: [
        { ...table, create_time: createPastTime(7 * hour) },
        { ...table, create_time: createPastTime(hour) },
      ],
    },
    measured: 7 * hour,
    severity: 'warning',
    relief: { mutations: [{ ...table, create_time: createPastTime(7 * hour), is_done: 1 }] },
  },
  {
    rule: 'replication-queue-stuck',
    trouble: {
      replication_queue: [
        { ...table, num_tries: 101 },
        { ...table, num_postponed: 1001 },
        { ...table, num_tries: 10, last_exception: 'Poco::Exception', create_time: createPastTime(6 * minute) },
        { ...table, num_tries: 10, create_time: createPastTime(hour) },
      ],
    },
    measured: 3,
    severity: 'warning',
    relief: {
      replication_queue: [
        { ...table, num_tries: 100 },
        { ...table, num_tries: 10, last_exception: 'Poco::Exception', create_time: createPastTime(4 * minute) },
      ],
    },
  },
  {
    rule: 'ddl-queue-stuck',
    trouble: {
      distributed_ddl_queue: [
        { entry: 'query-1', host: 'a', status: 'Finished', query_create_time: createPastTime(day) },
        { entry: 'query-2', host: 'b', status: 'Inactive', query_create_time: createPastTime(2 * hour) },
      ],
    },
    measured: 2 * hour,
    severity: 'critical',
    relief: {
      distributed_ddl_queue: [{ entry: 'query-1', status: 'Finished', query_create_time: createPastTime(day) }],
    },
  },
]

/** Rules over counters since server start, with the table and the column that names the counter. */
export const counterRules = [
  { rule: 'inode-or-write-errors', table: 'events', column: 'event' },
  { rule: 'slow-reads', table: 'events', column: 'event' },
  { rule: 'dns-or-network-errors', table: 'errors', column: 'name' },
  { rule: 'rejected-inserts', table: 'events', column: 'event' },
  { rule: 'delayed-inserts', table: 'events', column: 'event' },
  { rule: 'buffer-flush-errors', table: 'events', column: 'event' },
  { rule: 'replicated-data-loss', table: 'events', column: 'event' },
  { rule: 'fetch-or-check-failed', table: 'events', column: 'event' },
  { rule: 'merge-differs', table: 'events', column: 'event' },
  { rule: 'keeper-unavailable', table: 'events', column: 'event' },
  { rule: 'distributed-connect-fail', table: 'events', column: 'event' },
  { rule: 'distributed-rejected', table: 'events', column: 'event' },
  { rule: 'distributed-sync-timeout', table: 'events', column: 'event' },
  { rule: 'kafka-consumer-errors', table: 'events', column: 'event' },
  { rule: 'memory-limit-errors', table: 'errors', column: 'name' },
  { rule: 'login-failures', table: 'errors', column: 'name' },
  { rule: 'access-denied', table: 'errors', column: 'name' },
  { rule: 'no-available-replica', table: 'errors', column: 'name' },
]
