import { createPastTime, type RuleCase } from './rule-cases.ts'

const minute = 60
const hour = 3_600
const day = 86_400
const many = <T>(count: number, row: T): T[] => Array.from({ length: count }, () => row)
/** Returns the two time columns of a log row that was written `seconds` ago. */
const at = (seconds: number) => ({
  event_time: createPastTime(seconds),
  event_time_microseconds: createPastTime(seconds, 1e6),
})
const linesOfCrash = (seconds: number, lines = 34) =>
  Array.from({ length: lines }, (_, line) => ({
    level: 'Fatal',
    message: line === 1 ? 'Received signal Segmentation fault (11)' : '',
    ...at(seconds - line),
  }))
const ended = { type: 'QueryFinish', is_initial_query: 1, user: 'analyst' }
const failed = { ...ended, type: 'ExceptionWhileProcessing' }

/** Cases over the log tables of a server. Rows older than the window of a rule occur in both row sets. */
export const ruleLogCases: readonly RuleCase[] = [
  {
    rule: 'crash-recorded',
    trouble: { crash_log: [{ signal: 11, event_time: createPastTime(minute) }] },
    measured: 1,
    severity: 'critical',
    relief: { crash_log: [{ signal: 11, event_time: createPastTime(2 * hour) }] },
  },
  {
    rule: 'failed-backups',
    trouble: {
      backup_log: [
        { name: 'a', status: 'BACKUP_FAILED', ...at(hour) },
        { name: 'b', status: 'BACKUP_CREATED', ...at(hour) },
      ],
    },
    measured: 1,
    severity: 'critical',
    relief: { backup_log: [{ name: 'a', status: 'BACKUP_FAILED', ...at(2 * day) }] },
  },
  {
    rule: 'backup-old',
    trouble: {
      backup_log: [
        { name: 'a', status: 'BACKUP_CREATED', ...at(2 * day) },
        { name: 'b', status: 'BACKUP_FAILED', ...at(hour) },
      ],
    },
    measured: 2 * day,
    severity: 'warning',
    relief: { backup_log: [{ name: 'a', status: 'BACKUP_CREATED', ...at(hour) }] },
  },
  {
    rule: 'cpu-wait-pct',
    trouble: {
      metric_log: [
        {
          event_time: createPastTime(minute),
          ProfileEvent_OSCPUWaitMicroseconds: 600_000,
          ProfileEvent_OSCPUVirtualTimeMicroseconds: 400_000,
        },
      ],
    },
    measured: 60,
    severity: 'warning',
    relief: { metric_log: [{ event_time: createPastTime(minute), ProfileEvent_OSCPUWaitMicroseconds: 400_000 }] },
  },
  {
    rule: 'keeper-latency',
    trouble: {
      metric_log: [
        {
          event_time: createPastTime(minute),
          ProfileEvent_ZooKeeperWaitMicroseconds: 1e6,
          ProfileEvent_ZooKeeperTransactions: 10,
        },
      ],
    },
    measured: 100,
    severity: 'warning',
    relief: {
      metric_log: [
        {
          event_time: createPastTime(minute),
          ProfileEvent_ZooKeeperWaitMicroseconds: 1e6,
          ProfileEvent_ZooKeeperTransactions: 1,
        },
      ],
    },
  },
  {
    rule: 's3-errors',
    trouble: {
      metric_log: [
        {
          event_time: createPastTime(minute),
          ProfileEvent_S3ReadRequestsCount: 90,
          ProfileEvent_S3ReadRequestsErrors: 5,
        },
        {
          event_time: createPastTime(minute),
          ProfileEvent_S3WriteRequestsCount: 10,
          ProfileEvent_S3WriteRequestsErrors: 3,
          ProfileEvent_S3WriteRequestsThrottling: 2,
        },
      ],
    },
    measured: 10,
    severity: 'critical',
    relief: {
      metric_log: [
        {
          event_time: createPastTime(minute),
          ProfileEvent_S3ReadRequestsCount: 19,
          ProfileEvent_S3ReadRequestsErrors: 19,
        },
      ],
    },
  },
  {
    rule: 'fatal-log-entries',
    // One crash writes 34 lines, one per second.
    trouble: { text_log: [...linesOfCrash(10 * minute), { level: 'Error', ...at(minute) }] },
    measured: 1,
    severity: 'warning',
    relief: { text_log: linesOfCrash(2 * hour) },
  },
  {
    rule: 'fatal-log-entries',
    // The server restarts and crashes again every two minutes.
    trouble: { text_log: [10, 8, 6, 4, 2].flatMap((minutes) => linesOfCrash(minutes * minute)) },
    measured: 5,
    severity: 'critical',
    relief: { text_log: [] },
  },
  {
    rule: 'fatal-log-entries',
    // The server restarts at once and crashes every 20 seconds.
    trouble: {
      text_log: Array.from({ length: 6 }, (_, crash) => linesOfCrash(10 * minute - 20 * crash, 15)).flat(),
    },
    measured: 6,
    severity: 'critical',
    relief: { text_log: [] },
  },
  {
    rule: 'new-error-code',
    trouble: {
      error_log: [
        { code: 60, error: 'UNKNOWN_TABLE', event_time: createPastTime(2 * day) },
        { code: 252, error: 'TOO_MANY_PARTS', event_time: createPastTime(minute) },
        { code: 241, error: 'MEMORY_LIMIT_EXCEEDED', event_time: createPastTime(2 * day) },
        { code: 241, error: 'MEMORY_LIMIT_EXCEEDED', event_time: createPastTime(minute) },
      ],
    },
    measured: 1,
    severity: 'warning',
    relief: { error_log: [{ code: 252, error: 'TOO_MANY_PARTS', event_time: createPastTime(minute) }] },
  },
  {
    rule: 'merge-failing',
    trouble: {
      part_log: [
        { event_type: 'MergeParts', database: 'shop', table: 'orders', error: 243, ...at(minute) },
        { event_type: 'MergeParts', database: 'shop', table: 'orders', error: 236, ...at(minute) },
        { event_type: 'NewPart', database: 'shop', table: 'orders', error: 243, ...at(minute) },
      ],
    },
    measured: 1,
    severity: 'warning',
    relief: { part_log: [{ event_type: 'MergeParts', error: 243, ...at(hour) }] },
  },
  {
    rule: 'query-fail-rate',
    trouble: {
      query_log: [
        ...many(18, { ...ended, ...at(minute) }),
        ...many(2, { ...failed, exception_code: 60, ...at(minute) }),
        ...many(9, { ...failed, exception_code: 394, ...at(minute) }),
        ...many(9, { ...failed, exception_code: 735, ...at(minute) }),
      ],
    },
    measured: 10,
    severity: 'warning',
    relief: { query_log: many(19, { ...failed, exception_code: 60, ...at(minute) }) },
  },
  {
    rule: 'query-p95-regression',
    trouble: {
      query_log: [
        ...many(20, { ...ended, normalized_query_hash: 7, query_duration_ms: 100, ...at(5 * hour) }),
        ...many(20, { ...ended, normalized_query_hash: 7, query_duration_ms: 600, ...at(minute) }),
        ...many(20, { ...ended, normalized_query_hash: 8, query_duration_ms: 1, ...at(5 * hour) }),
        ...many(20, { ...ended, normalized_query_hash: 8, query_duration_ms: 50, ...at(minute) }),
      ],
    },
    measured: 6,
    severity: 'critical',
    relief: { query_log: many(50, { ...ended, normalized_query_hash: 7, query_duration_ms: 600, ...at(minute) }) },
  },
  {
    rule: 'small-inserts',
    trouble: { query_log: many(300, { ...ended, query_kind: 'Insert', written_rows: 5, ...at(minute) }) },
    measured: 5,
    severity: 'warning',
    relief: { query_log: many(299, { ...ended, query_kind: 'Insert', written_rows: 5, ...at(minute) }) },
  },
  {
    rule: 'async-insert-errors',
    trouble: {
      asynchronous_insert_log: [
        { database: 'shop', table: 'orders', status: 'ParsingError', ...at(minute) },
        { database: 'shop', table: 'orders', status: 'Ok', ...at(minute) },
      ],
    },
    measured: 1,
    severity: 'warning',
    relief: { asynchronous_insert_log: [{ status: 'FlushError', ...at(hour) }] },
  },
]
