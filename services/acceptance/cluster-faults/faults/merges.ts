import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { retryUntil } from '../../../testing/fetch-json.ts'
import type { ClusterServer } from '../cluster.ts'
import type { Fault, RecordedRules } from '../fault.ts'
import { addDisk, removeDisk } from '../small-disks.ts'

/** Faults for the rules in `charts/merges`. */
export const mergesFaults: readonly Fault[] = [
  {
    rule: 'broken-detached-parts',
    host: 's1r1',
    severity: 'warning',
    value: [2, 2],
    async produce({ servers: { s1r1 } }) {
      await s1r1.run(
        'CREATE DATABASE fault_broken_parts',
        `CREATE TABLE fault_broken_parts.events (n UInt64) ENGINE = MergeTree ORDER BY n SETTINGS ${noBackgroundMerges}`,
      )
      await insertParts(s1r1, 'fault_broken_parts.events', 3)
      const [, ...broken] = await findPartFolders(s1r1, 'fault_broken_parts.events')
      await s1r1.run('DETACH TABLE fault_broken_parts.events')
      // The server compares the sizes of files with the checksums when it loads a part.
      for (const folder of broken) await writeFile(join(folder, 'data.bin'), '')
      await s1r1.run('ATTACH TABLE fault_broken_parts.events')
    },
    async recover({ servers: { s1r1 } }) {
      await s1r1.run('DROP DATABASE fault_broken_parts SYNC')
    },
  },
  {
    rule: 'failed-mutations',
    host: 's1r2',
    severity: 'warning',
    value: [5, 90],
    thresholds: { warning: 5 },
    visibleAfterMs: 6_000,
    async produce({ servers: { s1r2 } }) {
      await s1r2.run(
        'CREATE DATABASE fault_failed_mutations',
        'CREATE TABLE fault_failed_mutations.events (n UInt64, v UInt8) ENGINE = MergeTree ORDER BY n',
        'INSERT INTO fault_failed_mutations.events SELECT number, 1 FROM numbers(10)',
        `ALTER TABLE fault_failed_mutations.events UPDATE v = throwIf(v = 1, 'wrong value') WHERE 1`,
      )
      // Other faults occupy the threads that this mutation needs to fail.
      await waitForRow(
        s1r2,
        `SELECT 1 FROM system.mutations WHERE database = 'fault_failed_mutations' AND latest_fail_reason != ''`,
      )
    },
    async recover({ servers: { s1r2 } }) {
      await s1r2.run(`KILL MUTATION WHERE database = 'fault_failed_mutations' SYNC`)
    },
  },
  {
    rule: 'inactive-parts',
    host: 's2r2',
    severity: 'warning',
    value: [2_100, 2_100],
    async produce({ servers: { s2r2 } }) {
      await s2r2.run(
        'CREATE DATABASE fault_inactive_parts',
        `CREATE TABLE fault_inactive_parts.events (n UInt64) ENGINE = MergeTree ORDER BY n
         SETTINGS old_parts_lifetime = 3600, parts_to_delay_insert = 5000, parts_to_throw_insert = 5000, ${noBackgroundMerges}`,
      )
      await insertParts(s2r2, 'fault_inactive_parts.events', 2_100)
      await s2r2.run('OPTIMIZE TABLE fault_inactive_parts.events FINAL')
    },
    async recover({ servers: { s2r2 } }) {
      await s2r2.run('DROP DATABASE fault_inactive_parts SYNC')
    },
  },
  {
    rule: 'merge-failing',
    host: 's1r1',
    severity: 'warning',
    value: [3, 3],
    async produce({ servers: { s1r1 } }) {
      await s1r1.run(
        'CREATE DATABASE fault_merge_failing',
        `CREATE TABLE fault_merge_failing.events (n UInt64) ENGINE = MergeTree ORDER BY n SETTINGS ${noBackgroundMerges}`,
      )
      await insertParts(s1r1, 'fault_merge_failing.events', 2)
      const [folder = ''] = await findPartFolders(s1r1, 'fault_merge_failing.events')
      await damageFile(join(folder, 'data.bin'))
      for (let run = 0; run < 3; run++) await s1r1.fail('OPTIMIZE TABLE fault_merge_failing.events FINAL')
      await s1r1.run('SYSTEM FLUSH LOGS')
    },
    async recover({ servers: { s1r1 } }) {
      await s1r1.run('DROP DATABASE fault_merge_failing SYNC', 'SYSTEM FLUSH LOGS', 'TRUNCATE TABLE system.part_log')
    },
  },
  {
    rule: 'merge-pool-busy',
    host: 's1r2',
    severity: 'critical',
    value: [100, 100],
    async produce({ servers: { s1r2 } }) {
      await s1r2.run(
        'CREATE DATABASE fault_merge_pool_busy',
        `CREATE TABLE fault_merge_pool_busy.events (n UInt64, v UInt8 DEFAULT 0) ENGINE = MergeTree ORDER BY n
         PARTITION BY n % 40
         SETTINGS index_granularity = 1, number_of_free_entries_in_pool_to_execute_mutation = 0`,
        'INSERT INTO fault_merge_pool_busy.events (n) SELECT number FROM numbers(4000)',
        // A mutation reads a granule of one row at a time, so it ends soon after it is killed.
        'ALTER TABLE fault_merge_pool_busy.events UPDATE v = sleepEachRow(1) WHERE 1',
      )
      await wait(1_000)
    },
    async recover({ servers: { s1r2 } }) {
      await s1r2.run(
        `KILL MUTATION WHERE database = 'fault_merge_pool_busy' SYNC`,
        'DROP DATABASE fault_merge_pool_busy SYNC',
      )
    },
  },
  {
    rule: 'mutation-old',
    host: 's1r2',
    severity: 'warning',
    value: [5, 90],
    thresholds: { warning: 5 },
    visibleAfterMs: 6_000,
    async produce({ servers: { s1r2 } }) {
      await s1r2.run(
        'CREATE DATABASE fault_mutation_old',
        'CREATE TABLE fault_mutation_old.events (n UInt64, v UInt8) ENGINE = MergeTree ORDER BY n',
        'INSERT INTO fault_mutation_old.events SELECT number, 1 FROM numbers(10)',
        'SYSTEM STOP MERGES fault_mutation_old.events',
        'ALTER TABLE fault_mutation_old.events UPDATE v = 2 WHERE 1',
      )
    },
    async recover({ servers: { s1r2 } }) {
      await s1r2.run('SYSTEM START MERGES fault_mutation_old.events')
    },
  },
  {
    rule: 'mutations-pending',
    host: 's1r2',
    severity: 'warning',
    value: [105, 105],
    async produce({ servers: { s1r2 } }) {
      await s1r2.run(
        'CREATE DATABASE fault_mutations_pending',
        'CREATE TABLE fault_mutations_pending.events (n UInt64, v UInt8) ENGINE = MergeTree ORDER BY n',
        'INSERT INTO fault_mutations_pending.events SELECT number, 1 FROM numbers(10)',
        'SYSTEM STOP MERGES fault_mutations_pending.events',
      )
      for (let value = 0; value < 105; value++)
        await s1r2.run(`ALTER TABLE fault_mutations_pending.events UPDATE v = ${value} WHERE 1`)
    },
    async recover({ servers: { s1r2 } }) {
      await s1r2.run('SYSTEM START MERGES fault_mutations_pending.events')
    },
  },
  {
    rule: 'parts-pressure',
    host: 's2r2',
    severity: 'warning',
    value: [60, 60],
    async produce({ servers: { s2r2 } }) {
      await s2r2.run(
        'CREATE DATABASE fault_parts_pressure',
        `CREATE TABLE fault_parts_pressure.events (n UInt64) ENGINE = MergeTree ORDER BY n
         SETTINGS parts_to_delay_insert = 100, ${noBackgroundMerges}`,
      )
      await insertParts(s2r2, 'fault_parts_pressure.events', 60)
    },
    async recover({ servers: { s2r2 } }) {
      await s2r2.run('OPTIMIZE TABLE fault_parts_pressure.events FINAL')
    },
  },
  {
    rule: 'stuck-merges',
    host: 's2r1',
    severity: 'warning',
    value: [5, 90],
    thresholds: { warning: 5 },
    visibleAfterMs: 6_000,
    async produce({ servers: { s2r1 } }) {
      await s2r1.run('CREATE DATABASE fault_stuck_merges')
      await startSlowMerge(s2r1, 'fault_stuck_merges.events')
    },
    async recover({ servers: { s2r1 } }) {
      await s2r1.run('SYSTEM STOP MERGES fault_stuck_merges.events')
    },
  },
  {
    // The merge is slow by the threshold of the fault above, on the same server.
    rule: 'merge-pressure',
    host: 's2r1',
    severity: 'critical',
    value: [1, 1],
    visibleAfterMs: 6_000,
    async prepare({ servers: { s2r1 } }) {
      await addDisk(s2r1, 'fault_merge_pressure', 16)
    },
    async produce({ servers: { s2r1 } }) {
      const disk = "disk = 'fault_merge_pressure'"
      await s2r1.run(
        'CREATE DATABASE fault_merge_pressure',
        `CREATE TABLE fault_merge_pressure.texts (t String) ENGINE = MergeTree ORDER BY tuple() SETTINGS ${disk}`,
        'INSERT INTO fault_merge_pressure.texts SELECT randomString(1000) FROM numbers(14000)',
      )
      await startSlowMerge(s2r1, 'fault_merge_pressure.events', disk)
    },
    async recover({ servers: { s2r1 } }) {
      await s2r1.run('DROP DATABASE fault_merge_pressure SYNC')
    },
    async cleanUp({ servers: { s2r1 } }) {
      await removeDisk(s2r1, 'fault_merge_pressure')
    },
  },
  {
    rule: 'total-parts',
    host: 's1r1',
    severity: 'warning',
    value: [1_000, 1_400],
    thresholds: { warning: 1_000 },
    async produce({ servers: { s1r1 } }) {
      await s1r1.run(
        'CREATE DATABASE fault_total_parts',
        `CREATE TABLE fault_total_parts.events (n UInt64) ENGINE = MergeTree ORDER BY n PARTITION BY n % 100
         SETTINGS ${noBackgroundMerges}`,
      )
      await insertParts(s1r1, 'fault_total_parts.events', 1_000)
    },
    async recover({ servers: { s1r1 } }) {
      await s1r1.run('DROP DATABASE fault_total_parts SYNC')
    },
  },
]

export const mergesRecorded: RecordedRules = {}

/** Table settings that prevent background merges. OPTIMIZE still merges. */
const noBackgroundMerges = 'max_bytes_to_merge_at_min_space_in_pool = 1, max_bytes_to_merge_at_max_space_in_pool = 1'

/** Inserts this many parts of one row each. */
const insertParts = async (server: ClusterServer, table: string, parts: number): Promise<void> => {
  await server.run(
    `INSERT INTO ${table} SELECT number FROM numbers(${parts})
     SETTINGS max_block_size = 1, min_insert_block_size_rows = 1, min_insert_block_size_bytes = 1, max_threads = 1, max_insert_threads = 1`,
  )
}

/** Returns the folders of the active parts of a table. */
const findPartFolders = async (server: ClusterServer, table: string): Promise<string[]> => {
  const rows = await server.query(
    `SELECT path FROM system.parts WHERE active AND concat(database, '.', table) = '${table}' ORDER BY name`,
  )
  return rows.map(({ path }) => String(path))
}

/** Replaces the content of a file, so that its checksums no longer match. */
const damageFile = async (file: string): Promise<void> => {
  const { length } = await readFile(file)
  await writeFile(file, Buffer.alloc(length, 1))
}

const waitForRow = async (server: ClusterServer, sql: string): Promise<void> => {
  await retryUntil(
    () => server.query(sql),
    (rows) => rows.length > 0,
  )
}

/** Creates a table whose merge takes about 20 minutes, and waits until the merge runs. */
const startSlowMerge = async (
  server: ClusterServer,
  table: string,
  setting = 'index_granularity_bytes = 0',
): Promise<void> => {
  await server.run(
    `CREATE TABLE ${table} (n UInt64) ENGINE = MergeTree ORDER BY n SETTINGS index_granularity = 1, min_age_to_force_merge_seconds = 1, ${setting}`,
    `SYSTEM STOP MERGES ${table}`,
    `INSERT INTO ${table} SELECT number FROM numbers(600)`,
    `INSERT INTO ${table} SELECT number FROM numbers(600)`,
    // The merge computes the new column, one granule of one row at a time.
    `ALTER TABLE ${table} ADD COLUMN v UInt8 DEFAULT sleepEachRow(1)`,
    `SYSTEM START MERGES ${table}`,
  )
  await waitForRow(server, `SELECT 1 FROM system.merges WHERE concat(database, '.', table) = '${table}'`)
}
