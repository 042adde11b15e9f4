import { setTimeout as wait } from 'node:timers/promises'
import { type FaultCluster, serverNames } from './cluster.ts'

/** Rows per insert. Smaller inserts would be a fault of their own. */
const rowsPerInsert = 5_000
const everyMs = 2_000

/** Creates a replicated table on each server and a Distributed table over them. */
export const createLoadTables = async ({ servers }: FaultCluster): Promise<void> => {
  await servers.s1r1.run(
    'CREATE DATABASE fleet ON CLUSTER fleet',
    `CREATE TABLE fleet.events_local ON CLUSTER fleet (at DateTime, id UInt64, city LowCardinality(String), value Float64)
     ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/events', '{replica}') PARTITION BY toYYYYMM(at) ORDER BY (city, at)
     TTL at + INTERVAL 90 DAY`,
    `CREATE TABLE fleet.events ON CLUSTER fleet AS fleet.events_local ENGINE = Distributed('fleet', 'fleet', 'events_local', id)`,
  )
  // A server creates its log tables on the first flush.
  for (const name of serverNames) await servers[name].run('SYSTEM FLUSH LOGS')
}

/** Starts the normal work of the cluster: an insert and a query on each server in turn. */
export const startLoad = ({ servers }: FaultCluster): AsyncDisposable => {
  const stop = new AbortController()
  const work = async () => {
    for (let round = 0; !stop.signal.aborted; round++) {
      const name = serverNames[round % serverNames.length] ?? 's1r1'
      // Faults interrupt the load, so its errors are expected.
      await servers[name]
        .run(
          `INSERT INTO fleet.events SELECT now(), rand64(), ['Bern', 'Rome', 'Oslo'][1 + number % 3], number FROM numbers(${rowsPerInsert})`,
          'SELECT city, count(), avg(value) FROM fleet.events GROUP BY city',
        )
        .catch(() => undefined)
      await wait(everyMs, undefined, { signal: stop.signal }).catch(() => undefined)
    }
  }
  const working = work()
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await working
    },
  }
}
