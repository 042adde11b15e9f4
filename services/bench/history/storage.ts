import { z } from 'zod'
import { readRecordedMetrics } from '../../query/history/recorded-metrics.ts'
import { recordSlot } from '../../query/history/recorder.ts'
import { readWatermarks } from '../../query/history/watermarks.ts'
import { createSilentTelemetry, openTestService } from '../../query/testing/test-service.ts'
import { queryClickHouse } from '../../testing/fetch-json.ts'
import { startSeededHost } from '../../testing/seeded-hosts.ts'
import { startRealServer } from '../../acceptance/history/real-server.ts'

const version = '25.8'
const hours = 24
/** Query patterns of a busy host, counted once for each minute in which they ran. */
const fingerprintMinutes = 10_000

/** The bytes of a day of a busy host, by table. */
export type StoredBytes = Readonly<Record<string, { rows: number; bytes: number }>>

/** Records a day of a busy host on a real server, and returns what it takes on disk after all merges. */
export const measureStorage = async (): Promise<StoredBytes> => {
  await using scope = new AsyncDisposableStack()
  const host = scope.use(await startSeededHost('one'))
  const history = scope.use(await startRealServer(version, 'history'))
  await makeBusy(host.url)
  const parts = scope.use(
    await openTestService({ COLUMNDB_HOST: host.url, COLUMNDB_NAME: 'box', SVC_HISTORY_URL: history.url }),
  )
  // Creates the tables.
  await readWatermarks(parts.history, ['box'])
  for (const [table, label] of [
    ['samples', 'metrics'],
    ['query_patterns', ''],
    ['log_lines', ''],
  ]) {
    const [names, values] = table === 'samples' ? [', label', `, '${label}'`] : ['', '']
    await queryClickHouse(
      history.url,
      `INSERT INTO watchhouse.${table} (host, time, until, recorded_ms${names}) SELECT 'box', now() - toIntervalHour(${hours}) AS start, start, 1${values}`,
    )
  }
  const deps = { ...parts, telemetry: createSilentTelemetry(), recorded: readRecordedMetrics() }
  for (let until = 0; until < Date.now() / 1_000 - 180;) {
    await recordSlot(deps, 0, parts.hosts.list(), new AbortController().signal)
    const marks = await readWatermarks(parts.history, ['box'])
    until = Math.min(...[...marks].filter(([key]) => !/sizes|objects/.test(key)).map(([, mark]) => mark.until))
  }
  for (const table of ['samples', 'query_patterns', 'log_lines', 'running_queries', 'objects'])
    await queryClickHouse(history.url, `OPTIMIZE TABLE watchhouse.${table} FINAL`)
  const rows = await queryClickHouse(
    history.url,
    `SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND database = 'watchhouse' GROUP BY table`,
  )
  const Row = z.object({ table: z.string(), rows: z.coerce.number(), bytes: z.coerce.number() })
  return Object.fromEntries(
    z
      .array(Row)
      .parse(rows)
      .map(({ table, ...sizes }) => [table, sizes]),
  )
}

/** Adds query patterns to the log of the host until a day has enough of them. */
const makeBusy = async (url: string): Promise<void> => {
  const [row] = await queryClickHouse(
    url,
    `SELECT uniqExact(toStartOfMinute(event_time), normalized_query_hash) AS minutes FROM system.query_log WHERE type = 'QueryFinish' AND event_time > now() - toIntervalHour(${hours})`,
  )
  const missing = Math.max(0, fingerprintMinutes - Number(row?.minutes))
  const perMinute = Math.ceil(missing / (hours * 60))
  await queryClickHouse(
    url,
    `INSERT INTO system.query_log SELECT * REPLACE (
  now() - 60 - intDiv(number, 20 * ${perMinute}) * 60 AS event_time, toDate(event_time) AS event_date,
  cityHash64(number % ${perMinute}, intDiv(number, 20 * ${perMinute} * 60)) AS normalized_query_hash,
  toUInt64(exp(3 + randNormal(0, 1.2, number))) AS query_duration_ms, toUInt64(exp(18 + randNormal(0, 1, number + 1))) AS memory_usage,
  toUInt64(exp(10 + randNormal(0, 2, number + 2))) AS read_rows, read_rows * 40 AS read_bytes,
  concat('SELECT sum(amount), ', toString(number % ${perMinute}), ' FROM shop.orders_', toString(number % 7), ' WHERE customer_id = ', toString(number), ' GROUP BY region ORDER BY sum(amount) DESC LIMIT 100') AS query,
  map('UserTimeMicroseconds', toUInt64(query_duration_ms * 700), 'SystemTimeMicroseconds', toUInt64(query_duration_ms * 90)) AS ProfileEvents,
  ['shop.orders_' || toString(number % 7)] AS tables)
FROM (SELECT * FROM system.query_log WHERE type = 'QueryFinish' AND is_initial_query LIMIT 1) AS one CROSS JOIN numbers(${perMinute * 20 * hours * 60}) AS numbers`,
  )
}
