import { setTimeout as wait } from 'node:timers/promises'
import { retryUntil } from '../../../testing/fetch-json.ts'
import { reserveFreePort } from '../../../testing/servers/port.ts'
import type { ClusterServer } from '../cluster.ts'
import type { Fault, RecordedRules } from '../fault.ts'

/** Faults for the rules in `charts/keeper`. */
export const keeperFaults: readonly Fault[] = [
  {
    rule: 'keeper-latency',
    host: 's1r1',
    severity: 'warning',
    // The average includes the fast requests of the last five minutes.
    value: [50, 400],
    // The server requests the children of a node all at once. Each partition has a child of each of these nodes.
    async prepare({ servers: { s1r1 } }) {
      await s1r1.run(
        'CREATE DATABASE fault_keeper_latency',
        `CREATE TABLE fault_keeper_latency.t (id UInt64)
         ENGINE = ReplicatedMergeTree('/clickhouse/faults/keeper_latency', 's1r1') PARTITION BY id ORDER BY id`,
        'INSERT INTO fault_keeper_latency.t SELECT number FROM numbers(100)',
      )
    },
    async produce({ servers: { s1r1 } }) {
      const nodes = ['log', 'blocks', 'block_numbers', 'replicas/s1r1/parts']
      const paths = nodes.map((node) => `'/clickhouse/faults/keeper_latency/${node}'`)
      s1r1.keeperProxy.delay(slowRequestMs)
      for (let run = 0; run < slowRuns; run++)
        await s1r1.run(`SELECT count() FROM system.zookeeper WHERE path IN (${paths.join(', ')})`)
      s1r1.keeperProxy.delay(0)
      await wait(metricLogMs)
      await s1r1.run('SYSTEM FLUSH LOGS')
    },
    async recover({ servers: { s1r1 } }) {
      await s1r1.run('TRUNCATE TABLE system.metric_log')
    },
  },
  {
    rule: 'keeper-session-count',
    host: 's1r2',
    severity: 'critical',
    value: [1, 1],
    // A table on an auxiliary Keeper opens a second session.
    async produce({ servers: { s1r2 }, keeper }) {
      await s1r2.configure(
        'config.d/fault_keeper_session_count.xml',
        formatAuxiliaryKeeper('fault_keeper_session_count', Number(new URL(keeper.url).port)),
      )
      await s1r2.run(
        'CREATE DATABASE fault_keeper_session_count',
        `CREATE TABLE fault_keeper_session_count.t (id UInt64)
         ENGINE = ReplicatedMergeTree('fault_keeper_session_count:/clickhouse/faults/keeper_session_count', '{replica}') ORDER BY id`,
      )
    },
    async recover({ servers: { s1r2 } }) {
      await s1r2.run('DROP DATABASE fault_keeper_session_count SYNC')
      await s1r2.configure('config.d/fault_keeper_session_count.xml', undefined)
    },
  },
  {
    rule: 'keeper-unavailable',
    host: 's2r1',
    severity: 'critical',
    value: [5, 5],
    // Requests to an auxiliary Keeper that is down fail like requests to the main one, but disturb no other fault.
    async produce({ servers: { s2r1 } }) {
      await s2r1.configure(
        'config.d/fault_keeper_unavailable.xml',
        formatAuxiliaryKeeper('fault_keeper_unavailable', await reserveFreePort()),
      )
      for (let run = 0; run < 5; run++)
        await s2r1.fail(
          `SELECT * FROM system.zookeeper WHERE path = '/' AND zookeeperName = 'fault_keeper_unavailable'
           SETTINGS keeper_max_retries = 0, insert_keeper_max_retries = 0`,
        )
    },
    async recover({ servers: { s2r1 } }) {
      await s2r1.configure('config.d/fault_keeper_unavailable.xml', undefined)
    },
  },
  {
    rule: 'keeper-unreachable',
    host: 's2r1',
    severity: 'critical',
    value: [1, 1],
    alone: true,
    async produce({ servers: { s2r1 } }) {
      s2r1.keeperProxy.cut()
    },
    async recover({ servers: { s2r1 } }) {
      await reconnectKeeper(s2r1)
    },
  },
]

export const keeperRecorded: RecordedRules = {
  'keeper-node':
    'needs the metrics endpoint of a ClickHouse Keeper node; the package contains no Keeper, and the cluster uses ZooKeeper',
}

const slowRequestMs = 400
/** Makes 2,000 slow requests, enough to raise the average over the other requests of five minutes. */
const slowRuns = 5
/** Interval of the metric log, with a margin. */
const metricLogMs = 1_500

const formatAuxiliaryKeeper = (name: string, port: number): string => `<clickhouse>
  <auxiliary_zookeepers>
    <${name}><node><host>127.0.0.1</host><port>${port}</port></node></${name}>
  </auxiliary_zookeepers>
</clickhouse>
`

/** Restores the connection to Keeper and waits until all replicated tables of the server accept writes. */
export const reconnectKeeper = async (server: ClusterServer): Promise<void> => {
  server.keeperProxy.restore()
  await retryUntil(
    () => server.query('SELECT count() AS tables FROM system.replicas WHERE is_readonly OR is_session_expired'),
    ([row]) => row?.['tables'] === 0,
    reconnectWithinMs,
  )
}

const reconnectWithinMs = 60_000
