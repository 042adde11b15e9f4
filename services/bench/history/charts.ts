import { z } from 'zod'
import { startRealServer } from '../../acceptance/history/real-server.ts'
import { createCall, openTestService } from '../../query/testing/test-service.ts'
import { queryClickHouse } from '../../testing/fetch-json.ts'

const version = '25.8'
const fleetSize = 200
const repetitions = 5
/** Metrics of the host whose chart covers the whole retention: as many as the product records. */
const hostMetrics = 170
/** Metrics of each host of the fleet. A chart of one metric does not read the rows of the others. */
const fleetMetrics = 4

/** How long charts of long ranges take, in milliseconds of the history server. */
export interface ChartTimes {
  host: number[]
  fleet: number[]
}

/** Seeds a history in the resolutions of the retention, and measures charts of long ranges. */
export const measureCharts = async (): Promise<ChartTimes> => {
  await using scope = new AsyncDisposableStack()
  const history = scope.use(await startRealServer(version, 'history'))
  const env = { COLUMNDB_HOST: history.url, COLUMNDB_NAME: 'host-0', SVC_HISTORY_URL: history.url }
  const parts = scope.use(await openTestService(env))
  // Creates the tables.
  await parts.history.select('SELECT 1 AS one', z.unknown())
  await seed(history.url, 1, hostMetrics, 400)
  await seed(history.url, fleetSize, fleetMetrics, 31)
  await queryClickHouse(history.url, 'OPTIMIZE TABLE watchhouse.samples')
  const times: ChartTimes = { host: [], fleet: [] }
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const startedMs = performance.now()
    const data = await parts.handlers.chart(
      { hostKey: 'host-0', name: 'merge-count', lastHours: 24 * 400, parameters: {} },
      createCall(),
    )
    times.host.push(performance.now() - startedMs)
    if (!data.history || data.rows.length < 10) throw new Error('the chart does not read the history')
    times.fleet.push(await readFleetChart(history.url))
  }
  return times
}

/** Adds rows of hosts `host-0`, `host-1`, … up to this number of days ago. */
const seed = async (url: string, hosts: number, metrics: number, days: number): Promise<void> => {
  const steps = [
    { seconds: 60, from: 0, to: 7 },
    { seconds: 300, from: 7, to: Math.min(days, 90) },
    { seconds: 3_600, from: 90, to: days },
  ]
  await queryClickHouse(url, 'SYSTEM STOP MERGES watchhouse.samples')
  for (const { seconds, from, to } of steps.filter((step) => step.to > step.from)) {
    await queryClickHouse(
      url,
      `INSERT INTO watchhouse.samples (host, metric, time, sum, count, highest)
SELECT concat('host-', toString(host)), if(metric = 0, 'CurrentMetric_Merge', concat('ProfileEvent_Metric', toString(metric))),
  toStartOfInterval(now(), toIntervalSecond(${seconds})) - toIntervalDay(${from}) - ${seconds} * step AS time, rand() % 1000000 AS sum, ${seconds}, sum / ${seconds}
FROM (SELECT number AS host FROM numbers(${hosts})) AS a CROSS JOIN (SELECT number AS metric FROM numbers(${metrics})) AS b CROSS JOIN (SELECT number AS step FROM numbers(${((to - from) * 86_400) / seconds})) AS c
SETTINGS max_partitions_per_insert_block = 0`,
    )
  }
  await queryClickHouse(url, 'SYSTEM START MERGES watchhouse.samples')
}

/** Reads one metric of every host over 30 days, and returns the time that the server took. */
const readFleetChart = async (url: string): Promise<number> => {
  const startedMs = performance.now()
  const rows = await queryClickHouse(
    url,
    `SELECT toStartOfInterval(time, toIntervalHour(4)) AS at, host, sum(sum) / sum(count) AS value
FROM watchhouse.samples
WHERE host IN (SELECT concat('host-', toString(number)) FROM numbers(${fleetSize})) AND metric = 'CurrentMetric_Merge' AND time > now() - toIntervalDay(30)
GROUP BY at, host`,
  )
  if (rows.length < fleetSize * 30) throw new Error(`the fleet chart has ${rows.length} rows`)
  return performance.now() - startedMs
}
