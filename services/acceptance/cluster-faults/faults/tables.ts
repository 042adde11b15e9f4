import type { ClusterServer } from '../cluster.ts'
import type { Fault, RecordedRules } from '../fault.ts'

/** Faults for the rules in `charts/tables`. */
export const tablesFaults: readonly Fault[] = [
  {
    rule: 'dictionary-failed',
    host: 's1r1',
    severity: 'warning',
    value: [2, 2],
    async prepare({ servers: { s1r1 } }) {
      await s1r1.run(
        'CREATE DATABASE fault_dictionary_failed',
        'CREATE TABLE fault_dictionary_failed.cities (id UInt64, name String, country String) ENGINE = MergeTree ORDER BY id',
      )
      await createDictionary(s1r1, 'valid', 'id, name')
      await createDictionary(s1r1, 'stale', 'id, country')
      await createDictionary(s1r1, 'never_loaded', 'id, country')
      await s1r1.run(
        'SYSTEM RELOAD DICTIONARY fault_dictionary_failed.valid',
        'SYSTEM RELOAD DICTIONARY fault_dictionary_failed.stale',
      )
    },
    async produce({ servers: { s1r1 } }) {
      await s1r1.run('ALTER TABLE fault_dictionary_failed.cities DROP COLUMN country')
      await s1r1.fail('SYSTEM RELOAD DICTIONARY fault_dictionary_failed.stale')
      await s1r1.fail('SYSTEM RELOAD DICTIONARY fault_dictionary_failed.never_loaded')
    },
    async recover({ servers: { s1r1 } }) {
      await s1r1.run(
        'ALTER TABLE fault_dictionary_failed.cities ADD COLUMN country String',
        'SYSTEM RELOAD DICTIONARY fault_dictionary_failed.stale',
        'SYSTEM RELOAD DICTIONARY fault_dictionary_failed.never_loaded',
      )
    },
  },
  {
    rule: 'mv-refresh-failures',
    host: 's1r2',
    severity: 'warning',
    value: [2, 2],
    async prepare({ servers: { s1r2 } }) {
      await s1r2.run(
        'CREATE DATABASE fault_mv_refresh_failures',
        'CREATE TABLE fault_mv_refresh_failures.orders (price Int64) ENGINE = MergeTree ORDER BY price',
      )
      await createRefreshableView(s1r2, 'orders_count', 'count() AS orders')
      await createRefreshableView(s1r2, 'total', `sum(price) AS total, ${priceCheck}`)
      await createRefreshableView(s1r2, 'highest', `max(price) AS highest, ${priceCheck}`)
    },
    async produce({ servers: { s1r2 } }) {
      await s1r2.run('INSERT INTO fault_mv_refresh_failures.orders VALUES (-1)')
      await refreshView(s1r2, 'orders_count')
      for (const view of ['total', 'highest']) {
        await s1r2.run(`SYSTEM REFRESH VIEW fault_mv_refresh_failures.${view}`)
        await s1r2.fail(`SYSTEM WAIT VIEW fault_mv_refresh_failures.${view}`)
      }
    },
    async recover({ servers: { s1r2 } }) {
      await s1r2.run('TRUNCATE TABLE fault_mv_refresh_failures.orders')
      for (const view of ['total', 'highest']) await refreshView(s1r2, view)
    },
  },
  {
    rule: 'partitions-per-table',
    host: 's2r1',
    severity: 'warning',
    value: [1_000, 1_000],
    async prepare({ servers: { s2r1 } }) {
      await s2r1.run(
        'CREATE DATABASE fault_partitions_per_table',
        'CREATE TABLE fault_partitions_per_table.events (customer UInt64) ENGINE = MergeTree PARTITION BY customer ORDER BY customer',
      )
    },
    async produce({ servers: { s2r1 } }) {
      await s2r1.run(
        'INSERT INTO fault_partitions_per_table.events SELECT number % 1000 FROM numbers(2000) SETTINGS max_partitions_per_insert_block = 0',
      )
    },
    async recover({ servers: { s2r1 } }) {
      await s2r1.run('DROP DATABASE fault_partitions_per_table SYNC')
    },
  },
  {
    rule: 'ttl-partition-health',
    host: 's2r2',
    severity: 'warning',
    value: [2, 2],
    async prepare({ servers: { s2r2 } }) {
      await s2r2.run('CREATE DATABASE fault_ttl_partition_health')
    },
    async produce({ servers: { s2r2 } }) {
      await createDailyTable(s2r2, 'orders', 100)
      await createDailyTable(s2r2, 'visits', 101)
      // These two are no fault.
      await createDailyTable(s2r2, 'few_days', 99)
      await createDailyTable(s2r2, 'with_ttl', 100, 'TTL day + INTERVAL 1 YEAR')
    },
    async recover({ servers: { s2r2 } }) {
      for (const table of ['orders', 'visits'])
        await s2r2.run(`ALTER TABLE fault_ttl_partition_health.${table} MODIFY TTL day + INTERVAL 1 YEAR`)
    },
  },
]

export const tablesRecorded: RecordedRules = {}

const createDictionary = ({ run }: ClusterServer, name: string, columns: string): Promise<void> =>
  run(`CREATE DICTIONARY fault_dictionary_failed.${name} (${columns.replace('id, ', 'id UInt64, ')} String) PRIMARY KEY id
       SOURCE(CLICKHOUSE(QUERY 'SELECT ${columns} FROM fault_dictionary_failed.cities')) LAYOUT(FLAT()) LIFETIME(0)`)

const priceCheck = "throwIf(min(price) < 0, 'negative price') AS invalid"

const createRefreshableView = ({ run }: ClusterServer, name: string, columns: string): Promise<void> =>
  run(
    `CREATE MATERIALIZED VIEW fault_mv_refresh_failures.${name} REFRESH EVERY 1 YEAR SETTINGS refresh_retries = 0
     ENGINE = MergeTree ORDER BY tuple() AS SELECT ${columns} FROM fault_mv_refresh_failures.orders`,
    `SYSTEM WAIT VIEW fault_mv_refresh_failures.${name}`,
  )

const refreshView = ({ run }: ClusterServer, name: string): Promise<void> =>
  run(`SYSTEM REFRESH VIEW fault_mv_refresh_failures.${name}`, `SYSTEM WAIT VIEW fault_mv_refresh_failures.${name}`)

/** Creates a table with one partition for each of the last days. */
const createDailyTable = ({ run }: ClusterServer, name: string, days: number, ttl = ''): Promise<void> =>
  run(
    `CREATE TABLE fault_ttl_partition_health.${name} (day Date) ENGINE = MergeTree PARTITION BY day ORDER BY day ${ttl}`,
    `INSERT INTO fault_ttl_partition_health.${name} SELECT today() - number FROM numbers(${days}) SETTINGS max_partitions_per_insert_block = 0`,
  )
