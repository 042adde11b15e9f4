import type { Benchmark } from './benchmark.ts'
import { measureCharts } from './history/charts.ts'
import { measureFleetCost } from './history/fleet-cost.ts'
import { measureHostCost } from './history/host-cost.ts'
import { measureStorage } from './history/storage.ts'

const minuteMs = 60_000
const mebibyte = 1_048_576

/** Measures what the history costs: on the hosts, in our process and on disk, and how fast long ranges are. */
export const historyCost: Benchmark = {
  name: 'history',
  async *run() {
    const { host, fleet } = await measureCharts()
    const within = (atMost: number) => ({ reference: [atMost], bar: { atMost: 1 } })
    yield { name: 'chart over 400 days of one host', unit: 'ms', ours: host, ...within(300) }
    yield { name: 'chart over 30 days of 200 hosts', unit: 'ms', ours: fleet, ...within(1_000) }
    const bytes = Object.values(await measureStorage()).reduce((sum, table) => sum + table.bytes, 0)
    yield { name: 'a day of a busy host on disk', unit: 'MiB', ours: [bytes / mebibyte], ...within(3) }
    const { percent, queriesPerSecond } = await measureHostCost(1.5 * minuteMs, 5 * minuteMs)
    const load = `at ${queriesPerSecond.toFixed(0)} queries per second`
    yield { name: `cost on a host ${load}`, unit: '% of a core', ours: [percent], ...within(0.5) }
    const { cores, behindP99, hosts, engineCores, parts } = await measureFleetCost(1_000, 3 * minuteMs, 3 * minuteMs)
    yield { name: `CPU of the product, ${hosts} hosts`, unit: 'cores', ours: [cores], ...within(0.6) }
    yield { name: 'p99 of how far hosts are behind', unit: 's', ours: [behindP99], ...within(90) }
    // The history server can be shared, so its load is shown too.
    yield { name: `CPU of the history server, ${parts} parts`, unit: 'cores', ours: [engineCores], ...within(2) }
  },
}
