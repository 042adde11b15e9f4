import { readdir, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { type ClusterServer, type FaultCluster, serverNames, type ServerName } from '../cluster.ts'
import type { Fault, RecordedRules } from '../fault.ts'

/** Faults for the rules in `charts/ingestion`. */
export const ingestionFaults: readonly Fault[] = [
  {
    rule: 'async-insert-errors',
    host: 's1r1',
    severity: 'warning',
    value: [3, 3],
    async prepare({ servers: { s1r1 } }) {
      await s1r1.run(
        'CREATE DATABASE fault_async_insert_errors',
        'CREATE TABLE fault_async_insert_errors.events (id UInt64) ENGINE = MergeTree ORDER BY id',
      )
      await insertAsynchronously(s1r1, '{"id": 1}')
      await s1r1.run('SYSTEM FLUSH LOGS')
    },
    async produce({ servers: { s1r1 } }) {
      for (const row of ['{"id": "one"}', '{"id": "two"}', '{"id": 3}', '{"id": [4]}'])
        await insertAsynchronously(s1r1, row)
      await s1r1.run('SYSTEM FLUSH LOGS')
    },
    async recover({ servers: { s1r1 } }) {
      await s1r1.run('TRUNCATE TABLE system.asynchronous_insert_log')
    },
  },
  {
    rule: 'buffer-flush-errors',
    host: 's1r2',
    severity: 'warning',
    value: [3, 3],
    async prepare({ servers: { s1r2 } }) {
      await s1r2.run(
        'CREATE DATABASE fault_buffer_flush_errors',
        'CREATE TABLE fault_buffer_flush_errors.destination (id UInt64, CONSTRAINT small CHECK id < 10) ENGINE = MergeTree ORDER BY id',
        // The limits are so high that only OPTIMIZE TABLE flushes the buffer.
        `CREATE TABLE fault_buffer_flush_errors.buffer (id UInt64)
         ENGINE = Buffer('fault_buffer_flush_errors', 'destination', 1, 3600, 3600, 1000000, 1000000, 1000000000, 1000000000)`,
      )
    },
    async produce({ servers: { s1r2 } }) {
      await s1r2.run('INSERT INTO fault_buffer_flush_errors.buffer VALUES (11)')
      for (let flush = 0; flush < 3; flush++) await s1r2.fail('OPTIMIZE TABLE fault_buffer_flush_errors.buffer')
    },
    async recover({ servers: { s1r2 } }) {
      await s1r2.run(
        'ALTER TABLE fault_buffer_flush_errors.destination DROP CONSTRAINT small',
        'OPTIMIZE TABLE fault_buffer_flush_errors.buffer',
      )
    },
  },
  {
    rule: 'delayed-inserts',
    host: 's2r1',
    severity: 'warning',
    value: [3, 3],
    async prepare({ servers: { s2r1 } }) {
      await createUnmergedTable(s2r1, 'fault_delayed_inserts', 'parts_to_delay_insert = 2, max_delay_to_insert = 1')
    },
    async produce({ servers: { s2r1 } }) {
      for (let insert = 0; insert < 3; insert++) await s2r1.run('INSERT INTO fault_delayed_inserts.events VALUES (1)')
    },
    async recover({ servers: { s2r1 } }) {
      await s2r1.run('SYSTEM START MERGES fault_delayed_inserts.events', 'OPTIMIZE TABLE fault_delayed_inserts.events')
    },
  },
  {
    rule: 'rejected-inserts',
    host: 's2r2',
    severity: 'critical',
    value: [2, 2],
    async prepare({ servers: { s2r2 } }) {
      await createUnmergedTable(s2r2, 'fault_rejected_inserts', 'parts_to_throw_insert = 2')
    },
    async produce({ servers: { s2r2 } }) {
      for (let insert = 0; insert < 2; insert++) await s2r2.fail('INSERT INTO fault_rejected_inserts.events VALUES (1)')
    },
    async recover({ servers: { s2r2 } }) {
      await s2r2.run(
        'SYSTEM START MERGES fault_rejected_inserts.events',
        'OPTIMIZE TABLE fault_rejected_inserts.events',
      )
    },
  },
  {
    rule: 'distributed-broken',
    host: 's1r1',
    severity: 'warning',
    value: [2, 2],
    async prepare(cluster) {
      await createDistributedTable(cluster, { database: 'fault_distributed_broken', sender: 's1r1', shard: 's2' })
      await cluster.servers.s1r1.run(
        'SYSTEM STOP DISTRIBUTED SENDS fault_distributed_broken.events',
        'INSERT INTO fault_distributed_broken.events VALUES (1)',
        'INSERT INTO fault_distributed_broken.events VALUES (2)',
      )
    },
    async produce({ servers: { s1r1 } }) {
      const folder = await findQueueFolder(s1r1, 'fault_distributed_broken')
      // Like a crash before the file was written completely.
      for (const file of await listDataFiles(folder)) await truncate(file, 40)
      await s1r1.run('SYSTEM START DISTRIBUTED SENDS fault_distributed_broken.events')
      // Each flush ends at the first broken file.
      for (let file = 0; file < 2; file++) await s1r1.fail('SYSTEM FLUSH DISTRIBUTED fault_distributed_broken.events')
    },
    visibleAfterMs: 3_000,
    async recover({ servers: { s1r1 } }) {
      const folder = await findQueueFolder(s1r1, 'fault_distributed_broken')
      for (const file of await listDataFiles(join(folder, 'broken'))) await rm(file)
      // The server counts the files when it loads the table.
      await s1r1.run(
        'DETACH TABLE fault_distributed_broken.events SYNC',
        'ATTACH TABLE fault_distributed_broken.events',
      )
    },
  },
  {
    rule: 'distributed-files',
    host: 's1r2',
    severity: 'warning',
    // The load adds files that are sent at once.
    value: [60, 80],
    async prepare(cluster) {
      await createDistributedTable(cluster, { database: 'fault_distributed_files', sender: 's1r2', shard: 's2' })
    },
    async produce({ servers: { s1r2 } }) {
      await s1r2.run('SYSTEM STOP DISTRIBUTED SENDS fault_distributed_files.events')
      for (let insert = 0; insert < 60; insert++)
        await s1r2.run(`INSERT INTO fault_distributed_files.events VALUES (${insert})`)
    },
    async recover({ servers: { s1r2 } }) {
      await s1r2.run(
        'SYSTEM START DISTRIBUTED SENDS fault_distributed_files.events',
        'SYSTEM FLUSH DISTRIBUTED fault_distributed_files.events',
      )
    },
  },
  {
    rule: 'distributed-rejected',
    host: 's2r1',
    severity: 'critical',
    value: [5, 5],
    async prepare(cluster) {
      await createDistributedTable(cluster, {
        database: 'fault_distributed_rejected',
        sender: 's2r1',
        shard: 's1',
        settings: 'SETTINGS bytes_to_throw_insert = 1',
      })
      await cluster.servers.s2r1.run(
        'SYSTEM STOP DISTRIBUTED SENDS fault_distributed_rejected.events',
        'INSERT INTO fault_distributed_rejected.events VALUES (1)',
      )
    },
    async produce({ servers: { s2r1 } }) {
      for (let insert = 0; insert < 5; insert++)
        await s2r1.fail('INSERT INTO fault_distributed_rejected.events VALUES (1)')
    },
    async recover({ servers: { s2r1 } }) {
      await s2r1.run(
        'SYSTEM START DISTRIBUTED SENDS fault_distributed_rejected.events',
        'SYSTEM FLUSH DISTRIBUTED fault_distributed_rejected.events',
        'INSERT INTO fault_distributed_rejected.events VALUES (1)',
      )
    },
  },
  {
    rule: 'distributed-sync-timeout',
    host: 's2r2',
    severity: 'warning',
    value: [1, 1],
    async prepare(cluster) {
      const place = { database: 'fault_distributed_sync_timeout', sender: 's2r2', shard: 's1' } as const
      await createDistributedTable(cluster, { ...place, columns: 'id UInt64, text String' })
      const view = `CREATE MATERIALIZED VIEW ${place.database}.slow ENGINE = Null AS SELECT sleep(3) AS slept FROM ${place.database}.local`
      for (const { run } of [cluster.servers.s1r1, cluster.servers.s1r2]) await run(view)
    },
    async produce({ servers: { s2r2 } }) {
      await s2r2.fail(
        // The shard sleeps after each block, so the data fills the buffers of the connection.
        `INSERT INTO fault_distributed_sync_timeout.events SELECT number, randomString(1000000) FROM numbers(160)
           SETTINGS distributed_foreground_insert = 1, insert_distributed_timeout = 1, max_threads = 1,
             max_block_size = 16, min_insert_block_size_rows = 16, min_insert_block_size_bytes = 0`,
      )
    },
    async recover({ servers: { s1r1, s1r2 } }) {
      for (const { run } of [s1r1, s1r2]) await run('DROP VIEW fault_distributed_sync_timeout.slow SYNC')
    },
  },
  {
    rule: 'materialized-view-errors',
    host: 's1r1',
    severity: 'warning',
    value: [3, 3],
    async prepare({ servers: { s1r1 } }) {
      await s1r1.run(
        'CREATE DATABASE fault_materialized_view_errors',
        'CREATE TABLE fault_materialized_view_errors.events (id UInt64) ENGINE = MergeTree ORDER BY id',
        `CREATE MATERIALIZED VIEW fault_materialized_view_errors.checked ENGINE = MergeTree ORDER BY id
         AS SELECT id, throwIf(id > 9, 'id is too large') AS invalid FROM fault_materialized_view_errors.events`,
        'INSERT INTO fault_materialized_view_errors.events VALUES (1)',
        'SYSTEM FLUSH LOGS',
      )
    },
    async produce({ servers: { s1r1 } }) {
      for (let insert = 0; insert < 3; insert++)
        await s1r1.fail('INSERT INTO fault_materialized_view_errors.events VALUES (10)')
      await s1r1.run('SYSTEM FLUSH LOGS')
    },
    async recover({ servers: { s1r1 } }) {
      await s1r1.run('TRUNCATE TABLE system.query_views_log')
    },
  },
  {
    rule: 'message-broker-pool',
    host: 's1r2',
    severity: 'warning',
    value: [100, 100],
    visibleAfterMs: 4_000,
    async prepare({ servers: { s1r2 } }) {
      await s1r2.run('CREATE DATABASE fault_message_broker_pool')
      // No broker listens on this port, so that each consumer waits in its thread. More consumers than threads, because
      // each pauses between two waits.
      for (let table = 0; table < 3 * (await countBrokerThreads(s1r2)); table++)
        await s1r2.run(
          `CREATE TABLE fault_message_broker_pool.events_${table} (line String)
           ENGINE = Kafka('127.0.0.1:1', 'events', 'fault', 'LineAsString') SETTINGS kafka_poll_timeout_ms = 10000`,
        )
    },
    async produce({ servers: { s1r2 } }) {
      for (let table = 0; table < 3 * (await countBrokerThreads(s1r2)); table++)
        await s1r2.run(
          `CREATE MATERIALIZED VIEW fault_message_broker_pool.consumer_${table} ENGINE = Null
           AS SELECT line FROM fault_message_broker_pool.events_${table}`,
        )
    },
    async recover({ servers: { s1r2 } }) {
      await s1r2.run('DROP DATABASE fault_message_broker_pool SYNC')
    },
  },
  {
    rule: 'small-inserts',
    host: 's2r1',
    severity: 'warning',
    // The inserts of the load have 5,000 rows, so that each of them raises the average by 15.
    value: [1, 200],
    async prepare({ servers: { s2r1 } }) {
      await s2r1.run(
        'CREATE DATABASE fault_small_inserts',
        'CREATE TABLE fault_small_inserts.events (id UInt64) ENGINE = MergeTree ORDER BY id',
        'TRUNCATE TABLE system.query_log',
      )
    },
    async produce({ servers: { s2r1 } }) {
      for (let insert = 0; insert < 320; insert++)
        await s2r1.run(`INSERT INTO fault_small_inserts.events VALUES (${insert})`)
      await s2r1.run('SYSTEM FLUSH LOGS')
    },
    async recover({ servers: { s2r1 } }) {
      await s2r1.run('TRUNCATE TABLE system.query_log')
    },
  },
  {
    rule: 'kafka-consumer-errors',
    host: 's2r2',
    // The consumers of `message-broker-pool` have no broker either.
    mayAffect: ['s1r2'],
    severity: 'warning',
    value: [1, 20],
    visibleAfterMs: 6_000,
    async prepare({ servers: { s2r2 } }) {
      await s2r2.run('CREATE DATABASE fault_kafka_consumer_errors')
    },
    async produce({ servers: { s2r2 } }) {
      await s2r2.run(
        // No broker listens on this port.
        `CREATE TABLE fault_kafka_consumer_errors.events (line String)
         ENGINE = Kafka('127.0.0.1:1', 'events', 'fault', 'LineAsString')`,
        'CREATE MATERIALIZED VIEW fault_kafka_consumer_errors.consumer ENGINE = Null AS SELECT line FROM fault_kafka_consumer_errors.events',
      )
    },
    async recover({ servers: { s2r2 } }) {
      await s2r2.run('DROP DATABASE fault_kafka_consumer_errors SYNC')
    },
  },
]

export const ingestionRecorded: RecordedRules = {
  'kafka-rebalances': 'needs a Kafka broker whose consumer group changes',
}

/** Inserts a row of `JSONEachRow` and waits until the server has processed it. */
const insertAsynchronously = ({ run }: ClusterServer, row: string): Promise<void> =>
  run(
    `INSERT INTO fault_async_insert_errors.events SETTINGS async_insert = 1, wait_for_async_insert = 0 FORMAT JSONEachRow ${row}`,
    'SYSTEM FLUSH ASYNC INSERT QUEUE',
  )

/** Creates a table with these settings and with two parts that the server does not merge. */
const createUnmergedTable = ({ run }: ClusterServer, database: string, settings: string): Promise<void> =>
  run(
    `CREATE DATABASE ${database}`,
    `CREATE TABLE ${database}.events (id UInt64) ENGINE = MergeTree ORDER BY id SETTINGS ${settings}`,
    `SYSTEM STOP MERGES ${database}.events`,
    `INSERT INTO ${database}.events VALUES (1)`,
    `INSERT INTO ${database}.events VALUES (2)`,
  )

const countBrokerThreads = async (server: ClusterServer): Promise<number> => {
  const sql = "SELECT value FROM system.metrics WHERE metric = 'BackgroundMessageBrokerSchedulePoolSize'"
  return Number((await server.query(sql))[0]?.value)
}

interface DistributedTable {
  database: string
  sender: ServerName
  shard: 's1' | 's2'
  columns?: string
  settings?: string
}

/** Creates the table `events` on the sender, which sends all rows to the table `local` on the servers of a shard. */
const createDistributedTable = async (
  { servers }: FaultCluster,
  { database, sender, shard, columns = 'id UInt64', settings = '' }: DistributedTable,
): Promise<void> => {
  const receivers = serverNames.filter((name) => name.startsWith(shard))
  for (const name of receivers)
    await servers[name].run(
      `CREATE DATABASE ${database}`,
      `CREATE TABLE ${database}.local (${columns}) ENGINE = MergeTree ORDER BY id`,
    )
  // The remainder of the sharding key selects the shard.
  const key = shard === 's1' ? 0 : 1
  await servers[sender].run(
    `CREATE DATABASE ${database}`,
    `CREATE TABLE ${database}.events (${columns}) ENGINE = Distributed('fleet', '${database}', 'local', ${key}) ${settings}`,
  )
}

/** Returns the folder with the files that wait for a shard. */
const findQueueFolder = async ({ query }: ClusterServer, database: string): Promise<string> => {
  const [queue] = await query(`SELECT data_path FROM system.distribution_queue WHERE database = '${database}'`)
  return String(queue?.data_path)
}

const listDataFiles = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name.endsWith('.bin')).map((name) => join(folder, name))
