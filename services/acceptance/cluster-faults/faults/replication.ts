import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { retryUntil } from '../../../testing/fetch-json.ts'
import { reserveFreePort } from '../../../testing/servers/port.ts'
import type { ClusterServer } from '../cluster.ts'
import type { Fault, RecordedRules } from '../fault.ts'
import { reconnectKeeper } from './keeper.ts'

/**
 * Faults for the rules in `charts/replication`. All replicas that lag are on `s2r2`, because most of these faults make
 * `replication-lag` fire too.
 */
export const replicationFaults: readonly Fault[] = [
  {
    rule: 'cluster-host-errors',
    host: 's1r1',
    severity: 'warning',
    // The dead replica, and servers that earlier faults have restarted.
    value: [1, 3],
    async produce({ servers: { s1r1, s1r2 } }) {
      await s1r1.configure(
        clusterFile('cluster_host_errors'),
        formatCluster('fault_cluster_host_errors', [await reserveFreePort(), s1r2.nativePort]),
      )
      // Each query tries the dead replica first, in spite of its errors. The server halves their number every minute.
      for (let run = 0; run < 8; run++)
        await s1r1.run(
          `SELECT * FROM cluster('fault_cluster_host_errors', system.one)
           SETTINGS load_balancing = 'in_order', distributed_replica_max_ignored_errors = 1000`,
        )
    },
    async recover({ servers: { s1r1 } }) {
      await s1r1.configure(clusterFile('cluster_host_errors'), undefined)
    },
  },
  {
    rule: 'ddl-queue-stuck',
    host: 's1r1',
    // Each server reads the queue from Keeper.
    mayAffect: ['s1r2', 's2r1', 's2r2'],
    severity: 'warning',
    // The age and the lag grow while the other faults of the wave are produced.
    value: [3, 180],
    thresholds: { warning: 3 },
    visibleAfterMs: 4_000,
    async produce({ servers: { s1r1 } }) {
      await s1r1.configure(
        clusterFile('ddl_queue_stuck'),
        formatCluster('fault_ddl_queue_stuck', [s1r1.nativePort, await reserveFreePort()]),
      )
      await s1r1.run(
        `CREATE DATABASE fault_ddl_queue_stuck ON CLUSTER fault_ddl_queue_stuck
         SETTINGS distributed_ddl_task_timeout = 0, distributed_ddl_output_mode = 'none'`,
      )
    },
    async recover({ servers: { s1r1 }, keeper }) {
      const entries = await s1r1.query(
        "SELECT DISTINCT entry FROM system.distributed_ddl_queue WHERE cluster = 'fault_ddl_queue_stuck'",
      )
      // The host never comes back, so the entry is removed from Keeper, as operators do.
      for (const { entry } of entries) await deleteKeeperNode(keeper.url, `/clickhouse/task_queue/ddl/${String(entry)}`)
      await s1r1.configure(clusterFile('ddl_queue_stuck'), undefined)
    },
  },
  {
    rule: 'distributed-connect-fail',
    host: 's2r2',
    severity: 'warning',
    // The server counts each replica of the shard.
    value: [6, 6],
    async produce({ servers: { s2r2 } }) {
      const replicas = `127.0.0.1:${await reserveFreePort()}|127.0.0.1:${await reserveFreePort()}`
      for (let run = 0; run < 3; run++) await s2r2.fail(`SELECT * FROM remote('${replicas}', system.one)`)
    },
    recover: async () => {},
  },
  {
    rule: 'fetch-or-check-failed',
    host: 's2r1',
    severity: 'warning',
    value: [10, 40],
    async prepare({ servers: { s2r1, s2r2 } }) {
      await createTable('fault_fetch_or_check_failed', [s2r1, s2r2])
      for (const server of [s2r1, s2r2]) await server.run('SYSTEM STOP MERGES fault_fetch_or_check_failed.t')
      for (let part = 0; part < 12; part++) await s2r1.run(`INSERT INTO fault_fetch_or_check_failed.t SELECT ${part}`)
      await s2r2.run('SYSTEM SYNC REPLICA fault_fetch_or_check_failed.t')
    },
    async produce({ servers: { s2r1 } }) {
      for (const directory of await findPartDirectories('fault_fetch_or_check_failed', s2r1))
        await rm(`${directory}data.bin`)
      // The check finds the damage and fetches the parts from the other replica.
      await s2r1.run('CHECK TABLE fault_fetch_or_check_failed.t')
    },
    recover: async () => {},
  },
  {
    rule: 'log-pointer-lag',
    host: 's2r2',
    severity: 'warning',
    value: [39, 41],
    prepare: ({ servers: { s2r1, s2r2 } }) => createTable('fault_log_pointer_lag', [s2r1, s2r2]),
    async produce({ servers: { s2r1, s2r2 } }) {
      await s2r2.run('SYSTEM STOP PULLING REPLICATION LOG fault_log_pointer_lag.t')
      await s2r1.run('INSERT INTO fault_log_pointer_lag.t SELECT number FROM numbers(40)')
    },
    async recover({ servers: { s2r2 } }) {
      await s2r2.run(
        'SYSTEM START PULLING REPLICATION LOG fault_log_pointer_lag.t',
        'SYSTEM SYNC REPLICA fault_log_pointer_lag.t',
      )
    },
  },
  {
    rule: 'merge-differs',
    host: 's1r2',
    severity: 'warning',
    value: [3, 3],
    async prepare({ servers: { s1r1, s1r2 } }) {
      await createTable('fault_merge_differs', [s1r1])
      // The format of marks is a setting of the replica, not of the table, and changes the files of merged parts.
      await createTable('fault_merge_differs', [s1r2], 'compress_marks = 0')
      for (let run = 0; run < 2; run++)
        await s1r1.run('INSERT INTO fault_merge_differs.t SELECT number FROM numbers(3)')
      await s1r2.run('SYSTEM SYNC REPLICA fault_merge_differs.t')
    },
    async produce({ servers: { s1r1, s1r2 } }) {
      // The replica that merges last compares its result with that of the other one.
      await s1r2.run('SYSTEM STOP MERGES fault_merge_differs.t')
      await s1r1.run('OPTIMIZE TABLE fault_merge_differs.t FINAL')
      await s1r2.run('SYSTEM START MERGES fault_merge_differs.t', 'SYSTEM SYNC REPLICA fault_merge_differs.t')
    },
    recover: async () => {},
  },
  {
    rule: 'no-available-replica',
    host: 's2r1',
    // The queries of `distributed-connect-fail` have no replica either.
    mayAffect: ['s2r2'],
    severity: 'critical',
    value: [2, 2],
    prepare: ({ servers: { s2r1 } }) => createTable('fault_no_available_replica', [s2r1]),
    async produce({ servers: { s2r1 } }) {
      for (let run = 0; run < 2; run++)
        await s2r1.fail('INSERT INTO fault_no_available_replica.t SETTINGS insert_quorum = 2 SELECT 1')
    },
    recover: async () => {},
  },
  {
    rule: 'readonly-replicas',
    host: 's1r2',
    severity: 'critical',
    value: [1, 1],
    prepare: ({ servers: { s1r1, s1r2 } }) => createTable('fault_readonly_replicas', [s1r1, s1r2]),
    async produce({ servers: { s1r1, s1r2 } }) {
      await loseReplicaMetadata('fault_readonly_replicas', s1r2, s1r1)
    },
    async recover({ servers: { s1r2 } }) {
      await s1r2.run('SYSTEM RESTORE REPLICA fault_readonly_replicas.t')
    },
  },
  {
    rule: 'replica-queue',
    host: 's2r2',
    severity: 'warning',
    value: [120, 121],
    prepare: ({ servers: { s2r1, s2r2 } }) => createTable('fault_replica_queue', [s2r1, s2r2]),
    async produce({ servers: { s2r1, s2r2 } }) {
      await s2r2.run('SYSTEM STOP FETCHES fault_replica_queue.t')
      await s2r1.run(
        'INSERT INTO fault_replica_queue.t SELECT number FROM numbers(120) SETTINGS max_partitions_per_insert_block = 0',
      )
    },
    recover: ({ servers: { s2r2 } }) => startFetches('fault_replica_queue', s2r2),
  },
  {
    rule: 'replica-session-expired',
    host: 's1r2',
    severity: 'critical',
    // The two tables of the fault and the one of the load.
    value: [3, 3],
    alone: true,
    async prepare({ servers: { s1r2 } }) {
      for (const database of sessionDatabases) await createTable(database, [s1r2])
    },
    async produce({ servers: { s1r2 } }) {
      s1r2.keeperProxy.cut()
    },
    async recover({ servers: { s1r2 } }) {
      await reconnectKeeper(s1r2)
    },
  },
  {
    rule: 'replica-split-brain',
    host: 's2r2',
    severity: 'critical',
    value: [1, 1],
    // The fault makes the rules that it combines fire. It needs the threshold of the fault of `replication-lag`.
    alone: true,
    visibleAfterMs: 8_000,
    async prepare({ servers: { s2r1, s2r2 } }) {
      for (const database of splitBrainDatabases) await createTable(database, [s2r1, s2r2])
    },
    async produce({ servers: { s2r1, s2r2 } }) {
      const [lagging, readOnly] = splitBrainDatabases
      await stopFetchesAndInsert(lagging, s2r2, s2r1)
      await loseReplicaMetadata(readOnly, s2r2, s2r1)
    },
    async recover({ servers: { s2r2 } }) {
      const [lagging, readOnly] = splitBrainDatabases
      await startFetches(lagging, s2r2)
      await s2r2.run(`SYSTEM RESTORE REPLICA ${readOnly}.t`)
    },
  },
  {
    rule: 'replicas-inactive',
    host: 's1r1',
    severity: 'critical',
    value: [1, 1],
    prepare: ({ servers: { s1r1, s1r2 } }) => createTable('fault_replicas_inactive', [s1r1, s1r2]),
    async produce({ servers: { s1r2 } }) {
      await s1r2.run('DETACH TABLE fault_replicas_inactive.t')
    },
    async recover({ servers: { s1r2 } }) {
      await s1r2.run('ATTACH TABLE fault_replicas_inactive.t')
    },
  },
  {
    rule: 'replicated-data-loss',
    host: 's2r1',
    mayAffect: ['s2r2'],
    severity: 'critical',
    value: [1, 1],
    prepare: ({ servers: { s2r1, s2r2 } }) => createTable('fault_replicated_data_loss', [s2r1, s2r2]),
    async produce({ servers: { s2r1, s2r2 } }) {
      await stopFetchesAndInsert('fault_replicated_data_loss', s2r2, s2r1)
      const directories = await findPartDirectories('fault_replicated_data_loss', s2r1)
      // The only replica that has the part loses it.
      await s2r1.run('DETACH TABLE fault_replicated_data_loss.t SYNC')
      for (const directory of directories) await rm(directory, { recursive: true })
      await s2r1.run('ATTACH TABLE fault_replicated_data_loss.t')
      await retryUntil(
        () =>
          s2r1.query(
            "SELECT sum(lost_part_count) AS lost FROM system.replicas WHERE database = 'fault_replicated_data_loss'",
          ),
        ([row]) => row?.['lost'] === 1,
        lossWithinMs,
      )
    },
    recover: ({ servers: { s2r2 } }) => startFetches('fault_replicated_data_loss', s2r2),
  },
  {
    rule: 'replication-lag',
    host: 's2r2',
    severity: 'warning',
    value: [6, 180],
    thresholds: { warning: 6 },
    visibleAfterMs: 8_000,
    prepare: ({ servers: { s2r1, s2r2 } }) => createTable('fault_replication_lag', [s2r1, s2r2]),
    async produce({ servers: { s2r1, s2r2 } }) {
      await stopFetchesAndInsert('fault_replication_lag', s2r2, s2r1)
    },
    recover: ({ servers: { s2r2 } }) => startFetches('fault_replication_lag', s2r2),
  },
  {
    rule: 'replication-queue-stuck',
    host: 's2r2',
    severity: 'warning',
    value: [2, 2],
    prepare: ({ servers: { s2r1, s2r2 } }) => createTable('fault_replication_queue_stuck', [s2r1, s2r2]),
    async produce({ servers: { s2r1, s2r2 } }) {
      await s2r2.run('SYSTEM STOP FETCHES fault_replication_queue_stuck.t')
      await s2r1.run('INSERT INTO fault_replication_queue_stuck.t SELECT number FROM numbers(2)')
      const countPostponed = async () => {
        // Each of these statements makes the server examine the queue, which it otherwise does every few seconds.
        for (let run = 0; run < 100; run++) await s2r2.run('SYSTEM START MERGES fault_replication_queue_stuck.t')
        const [row] = await s2r2.query(
          "SELECT min(num_postponed) AS postponed FROM system.replication_queue WHERE database = 'fault_replication_queue_stuck'",
        )
        return Number(row?.['postponed'])
      }
      await retryUntil(countPostponed, (postponed) => postponed > 1_000, postponedWithinMs)
    },
    recover: ({ servers: { s2r2 } }) => startFetches('fault_replication_queue_stuck', s2r2),
  },
]

export const replicationRecorded: RecordedRules = {}

const sessionDatabases = ['fault_replica_session_expired', 'fault_replica_session_expired_too']
const splitBrainDatabases = ['fault_replica_split_brain_lagging', 'fault_replica_split_brain_read_only'] as const

const lossWithinMs = 30_000
const postponedWithinMs = 90_000

/** Creates the replicated table `t` with a partition for each id, in a database of its own. */
const createTable = async (database: string, servers: readonly ClusterServer[], settings = ''): Promise<void> => {
  for (const server of servers)
    await server.run(
      `CREATE DATABASE ${database}`,
      `CREATE TABLE ${database}.t (id UInt64) ENGINE = ReplicatedMergeTree('/clickhouse/faults/${database}', '{replica}')
       PARTITION BY id ORDER BY id ${settings && `SETTINGS ${settings}`}`,
    )
}

/** Lets a replica lag behind by the row that the other one inserts. */
const stopFetchesAndInsert = async (database: string, lagging: ClusterServer, other: ClusterServer): Promise<void> => {
  await lagging.run(`SYSTEM STOP FETCHES ${database}.t`)
  await other.run(`INSERT INTO ${database}.t SELECT 1`)
}

const startFetches = async (database: string, server: ClusterServer): Promise<void> => {
  await server.run(`SYSTEM START FETCHES ${database}.t`, `SYSTEM SYNC REPLICA ${database}.t`)
}

/** Makes a replica read-only: the other replica deletes its metadata in Keeper. */
const loseReplicaMetadata = async (database: string, server: ClusterServer, other: ClusterServer): Promise<void> => {
  await server.run(`DETACH TABLE ${database}.t SYNC`)
  await other.run(`SYSTEM DROP REPLICA '${server.name}' FROM TABLE ${database}.t`)
  await server.run(`ATTACH TABLE ${database}.t`)
}

/** Returns the directories of the active parts of the table, with a slash at the end. */
const findPartDirectories = async (database: string, server: ClusterServer): Promise<string[]> => {
  const parts = await server.query(`SELECT path FROM system.parts WHERE database = '${database}' AND active`)
  return parts.map(({ path }) => String(path))
}

/** Returns a file that sorts after `fleet.xml`, because that one replaces the clusters of earlier files. */
const clusterFile = (fault: string): string => `config.d/later_${fault}.xml`

const formatCluster = (name: string, replicaPorts: readonly number[]): string => {
  const replicas = replicaPorts.map((port) => `<replica><host>127.0.0.1</host><port>${port}</port></replica>`)
  return `<clickhouse>
  <remote_servers><${name}><shard><internal_replication>true</internal_replication>${replicas.join('')}</shard></${name}></remote_servers>
</clickhouse>
`
}

/** Deletes a node and its children with the command line of ZooKeeper. */
const deleteKeeperNode = async (url: string, path: string): Promise<void> => {
  const classes = '/etc/zookeeper/conf:/usr/share/java/*'
  const { host } = new URL(url)
  await promisify(execFile)('java', [
    '-cp',
    classes,
    'org.apache.zookeeper.ZooKeeperMain',
    '-server',
    host,
    'deleteall',
    path,
  ])
}
