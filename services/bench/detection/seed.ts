/**
 * The history of a host. Text values are SQL expressions over `hour` (hours ago), `number` and `hash`. The defaults are
 * two weeks without incidents.
 */
export interface HostHistory {
  /** Length of the logs in hours. */
  hours?: number
  /**
   * SQL expressions: duration factor, query pattern, percentage of failures, their error code, and memory factor.
   */
  slower?: string
  pattern?: string
  failing?: string
  code?: string
  memory?: string
  /** Statements per hour. */
  calls?: number
  /** Condition for whether the table `shop.events` received rows in an hour. */
  events?: string
  /** Used GiB of a disk of 1,000 GiB, and number of parts in the partition with the most parts. */
  used?: string
  parts?: string
  /** Additional statements to run; `after` holds the statements that clean up afterwards. */
  also?: readonly string[]
  after?: readonly string[]
  /** Statements that must fail, so that the host logs the failures. */
  refused?: readonly string[]
}

const week = 168
const silently = 'SETTINGS log_queries = 0'
const logs = ['query_log', 'part_log', 'asynchronous_metric_log']

/** Statements that remove the TTL of the logs. An embedded host keeps logs for a week, which is too short. */
export const logTtlRemovalStatements: readonly string[] = logs.map(
  (log) => `ALTER TABLE system.${log} REMOVE TTL ${silently}`,
)

/** Returns statements that write a history to the logs of a host. `salt` varies its pseudorandom numbers. */
export const buildSeedStatements = (scenario: HostHistory, salt: number): string[] => [
  ...logs.map((log) => `TRUNCATE TABLE system.${log} ${silently}`),
  queryLog(scenario, salt),
  partLog(scenario, salt),
  metricLog(scenario, salt),
  ...(scenario.also ?? []),
]

const at = (hour: string): string => `toDateTime(now() - ${hour} * 3600 - 1800)`

const queryLog = (scenario: HostHistory, salt: number): string => {
  const { hours = 2 * week + 24, calls = 40, slower = '1', failing = '1', code = '60', memory = '1' } = scenario
  const { pattern = 'number % 2' } = scenario
  return `INSERT INTO system.query_log
  (type, event_date, event_time, query_start_time, query_duration_ms, memory_usage, query, normalized_query_hash, query_kind,
   is_initial_query, exception_code, user, tables)
SELECT if(fails, 'ExceptionWhileProcessing', 'QueryFinish'), toDate(at), at, at, toUInt64(ms), toUInt64(memory), 'SELECT', 40 + pattern, 'Select',
  1, if(fails, ${code}, 0), 'reports', ['shop.orders']
FROM
(
  SELECT intDiv(number, ${calls}) AS hour, cityHash64(number, ${salt}) AS hash, ${at('hour')} AS at, ${pattern} AS pattern,
    hash % 100 < ${failing} AS fails,
    (100 + 200 * pattern) * (0.85 + hash % 300 / 1000) * (1.1 + 0.3 * sin(hour / 24 * 6.2832)) * (${slower}) AS ms,
    (1 + hash % 100 / 400) * 1e9 * (${memory}) AS memory
  FROM numbers(${hours * calls})
)
${silently}`
}

const partLog = ({ events = '1', hours = week + 24 }: HostHistory, salt: number): string => `INSERT INTO system.part_log
  (event_type, event_date, event_time, database, table, part_name, rows)
SELECT 'NewPart', toDate(at), at, 'shop', table, toString(number), 1000 + hash % 500
FROM
(
  SELECT number, number AS hour, cityHash64(number, ${salt}) AS hash, ${at('hour')} AS at FROM numbers(${Math.min(hours, week + 24)})
)
ARRAY JOIN ['orders', 'events'] AS table
WHERE table = 'orders' OR (${events})
${silently}`

const metricLog = ({ used = '400', parts = '200', hours = 2 * week }: HostHistory, salt: number): string => `INSERT INTO
  system.asynchronous_metric_log (event_date, event_time, metric, value)
SELECT toDate(at), at, pair.1, pair.2
FROM
(
  SELECT number AS hour, cityHash64(number, ${salt}) AS hash, ${at('hour')} AS at FROM numbers(${Math.min(hours, 2 * week)})
)
ARRAY JOIN [
  ('DiskUsed_data', (toFloat64(${used}) + hash % 40 / 10) * 1073741824), ('DiskTotal_data', 1000 * 1073741824.),
  ('MaxPartCountForPartition', toFloat64(${parts}) + hash % 30)
] AS pair
${silently}`
