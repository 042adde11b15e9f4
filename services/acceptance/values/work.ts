import { setTimeout as wait } from 'node:timers/promises'
import type { ClusterServer, FaultCluster } from '../cluster-faults/cluster.ts'

/** Does work of all kinds on `s1r1`, so that the figures of the product have something to count. */
export const runWork = async ({ servers: { s1r1 } }: FaultCluster): Promise<void> => {
  await createObjects(s1r1)
  await changeData(s1r1)
  await runQueries(s1r1)
  await backUp(s1r1)
  await s1r1.run('SYSTEM FLUSH LOGS')
}

const createObjects = (server: ClusterServer): Promise<void> =>
  server.run(
    'CREATE DATABASE shop',
    `CREATE TABLE shop.orders (at DateTime, id UInt64, customer UInt32, city LowCardinality(String), price Decimal(9, 2), note String CODEC(ZSTD(3)),
       INDEX by_customer customer TYPE bloom_filter GRANULARITY 2, PROJECTION by_city (SELECT city, sum(price) GROUP BY city))
     ENGINE = MergeTree PARTITION BY toYYYYMM(at) ORDER BY (customer, at) TTL at + INTERVAL 2 YEAR`,
    'CREATE TABLE shop.cities (name String, country String) ENGINE = MergeTree ORDER BY name',
    'CREATE TABLE shop.city_totals (city String, orders UInt64) ENGINE = SummingMergeTree ORDER BY city',
    'CREATE MATERIALIZED VIEW shop.city_totals_view TO shop.city_totals AS SELECT city, count() AS orders FROM shop.orders GROUP BY city',
    'CREATE MATERIALIZED VIEW shop.refreshed REFRESH EVERY 1 HOUR ENGINE = MergeTree ORDER BY country AS SELECT country, count() AS cities FROM shop.cities GROUP BY country',
    'CREATE VIEW shop.recent AS SELECT * FROM shop.orders WHERE at > now() - INTERVAL 1 DAY',
    'CREATE TABLE shop.archive (id UInt64) ENGINE = Log',
    `CREATE TABLE shop.incoming AS shop.orders ENGINE = Buffer('shop', 'orders', 1, 3600, 3600, 1000000, 1000000, 1000000000, 1000000000)`,
    `CREATE DICTIONARY shop.countries (name String, country String) PRIMARY KEY name
     SOURCE(CLICKHOUSE(DB 'shop' TABLE 'cities')) LAYOUT(COMPLEX_KEY_HASHED()) LIFETIME(3600)`,
    `INSERT INTO shop.cities VALUES ('Bern', 'CH'), ('Rome', 'IT'), ('Oslo', 'NO'), ('Milan', 'IT')`,
    'SYSTEM RELOAD DICTIONARY shop.countries',
    "CREATE USER app IDENTIFIED WITH plaintext_password BY 'secret of app' SETTINGS max_memory_usage = 1000000000",
    'CREATE USER etl IDENTIFIED WITH no_password',
    'CREATE ROLE reader',
    'GRANT SELECT ON shop.* TO reader',
    'GRANT reader TO app',
    'GRANT SELECT, INSERT ON shop.* TO etl',
    "CREATE ROW POLICY swiss ON shop.orders USING city = 'Bern' TO app",
    'CREATE QUOTA hourly FOR INTERVAL 1 hour MAX queries = 1000 TO app',
    'CREATE SETTINGS PROFILE careful SETTINGS max_threads = 2 TO etl',
  )

const changeData = async (server: ClusterServer): Promise<void> => {
  const insert = (rows: number, day: number) =>
    server.run(
      `INSERT INTO shop.orders SELECT now() - INTERVAL ${day} DAY, number, number % 1000, ['Bern', 'Rome', 'Oslo'][1 + number % 3], number % 90, randomPrintableASCII(40) FROM numbers(${rows})`,
    )
  for (const [rows, day] of [
    [20_000, 0],
    [30_000, 0],
    [10_000, 40],
    [5_000, 40],
    [7_000, 80],
  ] as const)
    await insert(rows, day)
  await server.run('OPTIMIZE TABLE shop.orders FINAL', 'OPTIMIZE TABLE shop.city_totals FINAL')
  await insert(4_000, 0)
  await server.run(
    "ALTER TABLE shop.orders UPDATE note = '' WHERE customer = 7 SETTINGS mutations_sync = 1",
    'ALTER TABLE shop.orders DELETE WHERE customer = 8 SETTINGS mutations_sync = 1',
    `INSERT INTO shop.cities VALUES ('Lima', 'PE')`,
    'ALTER TABLE shop.cities DETACH PARTITION tuple()',
    `INSERT INTO shop.cities VALUES ('Bern', 'CH'), ('Rome', 'IT'), ('Oslo', 'NO')`,
    'INSERT INTO shop.archive SELECT number FROM numbers(1000)',
    "INSERT INTO shop.incoming VALUES (now(), 1, 1, 'Bern', 1, 'waits')",
  )
  // A mutation that fails on each attempt.
  await server.run(
    "ALTER TABLE shop.cities UPDATE country = toString(throwIf(name = 'Oslo')) WHERE 1 SETTINGS mutations_sync = 0",
  )
  for (let row = 0; row < 5; row++)
    await server.run(
      `INSERT INTO shop.cities SETTINGS async_insert = 1, wait_for_async_insert = 1 VALUES ('City ${row}', 'CH')`,
    )
  await server.run('SYSTEM WAIT VIEW shop.refreshed')
}

const runQueries = async (server: ClusterServer): Promise<void> => {
  const etl = { user: 'etl', password: '' }
  for (let run = 1; run <= 12; run++) {
    await server.run(`SELECT city, sum(price) FROM shop.orders WHERE customer < ${run * 50} GROUP BY city`)
    await server.run(
      `SELECT count() FROM shop.orders WHERE note LIKE '%a${run}%' SETTINGS use_query_cache = ${run % 2}`,
    )
  }
  for (let run = 0; run < 2; run++) await server.run('SELECT count() FROM shop.cities SETTINGS use_query_cache = 1')
  await server.run(
    "SELECT dictGet('shop.countries', 'country', tuple('Bern'))",
    'SELECT sleep(1.2)',
    'SELECT sleep(2.1)',
  )
  await server.run('SELECT city, count() FROM fleet.events GROUP BY city')
  for (let run = 0; run < 3; run++) {
    await server.fail(`SELECT missing_${run} FROM shop.orders`)
    await server.fail(`SELECT throwIf(customer = ${run}) FROM shop.orders`)
  }
  await server.fail('SELECT groupArray(number) FROM numbers(10000000) SETTINGS max_memory_usage = 1000000')
  await server.fail(
    'SELECT sum(sleepEachRow(0.1)) FROM numbers(100) SETTINGS max_execution_time = 1, max_block_size = 1',
  )
  await server.fail('SELECT name FROM shop.cities', { user: 'app', password: 'wrong' })
  await server.fail('SELECT name FROM shop.cities', { user: 'unknown', password: '' })
  await server.fail('DROP TABLE shop.cities', etl)
  const cancelled = server.fail(
    "SELECT sum(sleepEachRow(0.1)) FROM numbers(1000) SETTINGS max_block_size = 1, log_comment = 'cancelled'",
  )
  await wait(500)
  await server.run("KILL QUERY WHERE query LIKE '%cancelled%' AND query NOT LIKE 'KILL%' SYNC")
  await cancelled
}

const backUp = async (server: ClusterServer): Promise<void> => {
  await server.run(
    "BACKUP TABLE shop.cities TO Disk('backups', 'cities')",
    "BACKUP TABLE shop.orders TO Disk('backups', 'orders')",
  )
  await server.fail("BACKUP TABLE shop.missing TO Disk('backups', 'missing')")
}
