import { setTimeout as wait } from 'node:timers/promises'
import { readRecordedMetrics } from '../../query/history/recorded-metrics.ts'
import { openRecorder } from '../../query/history/recorder.ts'
import { createSilentTelemetry, openTestService } from '../../query/testing/test-service.ts'
import { queryClickHouse } from '../../testing/fetch-json.ts'
import { startRealServer } from '../../acceptance/history/real-server.ts'

const version = '25.8'
const queriesPerSecond = 200
/** Number of different query patterns of the load. */
const patterns = 50

/** Runs queries of different patterns on a host until it is disposed. */
const startQueryLoad = (url: string): Disposable => {
  const columns = (index: number) =>
    Array.from({ length: (index % patterns) + 1 }, (_, n) => `number + ${n}`).join(', ')
  let sent = 0
  const timer = setInterval(() => {
    for (let n = 0; n < queriesPerSecond / 20; n++)
      queryClickHouse(url, `SELECT ${columns(sent++)} FROM numbers(10) FORMAT Null`).catch(() => undefined)
  }, 50)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** What the recorder costs a host. */
export interface HostCost {
  /** CPU time in percent of one core. */
  percent: number
  queriesPerSecond: number
}

/** Measures the recorder on a real server under load, after `warmUpMs`. */
export const measureHostCost = async (warmUpMs: number, measureMs: number): Promise<HostCost> => {
  await using scope = new AsyncDisposableStack()
  const host = scope.use(await startRealServer(version, 'host'))
  const history = scope.use(await startRealServer(version, 'history'))
  scope.use(startQueryLoad(host.url))
  const parts = scope.use(
    await openTestService({ COLUMNDB_HOST: host.url, COLUMNDB_NAME: 'box', SVC_HISTORY_URL: history.url }),
  )
  scope.use(
    openRecorder({
      ...parts,
      telemetry: createSilentTelemetry(),
      recorded: readRecordedMetrics(),
    }),
  )
  await wait(warmUpMs)
  const [begin] = await queryClickHouse(host.url, 'SELECT toUnixTimestamp64Micro(now64(6)) AS now')
  await wait(measureMs)
  await queryClickHouse(host.url, 'SYSTEM FLUSH LOGS')
  const [row] = await queryClickHouse(
    host.url,
    `SELECT countIf(type = 'QueryFinish' AND log_comment = '') / ${measureMs / 1_000} AS rate,
  sumIf(ProfileEvents['OSCPUVirtualTimeMicroseconds'], startsWith(log_comment, '{"watchhouse":"history/')) / ${measureMs * 1_000} * 100 AS percent
FROM system.query_log
WHERE type != 'QueryStart' AND event_time_microseconds >= fromUnixTimestamp64Micro(${Number(begin?.now)})`,
  )
  return { percent: Number(row?.percent), queriesPerSecond: Number(row?.rate) }
}
