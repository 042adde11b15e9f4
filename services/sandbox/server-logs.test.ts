import { afterAll, beforeAll, expect, it } from 'vitest'
import { curl } from './curl.ts'
import { SERVER_LOGS } from './server-logs.ts'
import { type Sandbox, startSandbox } from './start.ts'

let sandbox: Sandbox
let url: string

beforeAll(async () => {
  sandbox = await startSandbox({ label: 'logs' })
  url = sandbox.url
})
afterAll(() => sandbox[Symbol.asyncDispose]())

const flush = (): Promise<unknown> => curl(url, 'SYSTEM FLUSH LOGS')

async function read(sql: string): Promise<unknown[]> {
  const answer = await curl(url, sql, {
    query: { default_format: 'JSONEachRow', output_format_json_quote_64bit_integers: 0 },
  })
  expect(answer.status, answer.text).toBe(200)
  return answer.text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

it('exist from the start and drop old rows', async () => {
  const tables = await read(
    "SELECT name FROM system.tables WHERE database = 'system' AND name LIKE '%\\_log' AND create_table_query LIKE '%TTL % + toIntervalDay(7)%' ORDER BY name",
  )
  expect(tables).toEqual(SERVER_LOGS.map((name) => ({ name })))
})

it('record a statement with its time, rows, user, hash and comment', async () => {
  await curl(url, 'SELECT sum(number), sleep(0.3) FROM numbers(1000)', {
    query: { query_id: 'recorded', log_comment: 'counted', user: 'watchhouse', password: 'watchhouse' },
    headers: { 'User-Agent': 'a test' },
  })
  await flush()
  const rows = await read(`
    SELECT toString(type) AS type, user, query_kind, read_rows, result_rows, log_comment, http_user_agent, interface, exception_code,
      normalized_query_hash = normalizedQueryHash('SELECT sum(number), sleep(0.5) FROM numbers(7)') AS same_hash,
      query_duration_ms BETWEEN 300 AND 5000 AS slow, memory_usage > 0 AS used_memory, ProfileEvents['SelectQuery'] AS selects
    FROM system.query_log WHERE query_id = 'recorded' AND type = 'QueryFinish'`)
  expect(rows).toEqual([
    {
      type: 'QueryFinish',
      user: 'watchhouse',
      query_kind: 'Select',
      read_rows: 1000,
      result_rows: 1,
      log_comment: 'counted',
      http_user_agent: 'a test',
      interface: 2,
      exception_code: 0,
      same_hash: 1,
      slow: 1,
      used_memory: 1,
      selects: 1,
    },
  ])
  expect(
    await read("SELECT count() AS starts FROM system.query_log WHERE query_id = 'recorded' AND type = 'QueryStart'"),
  ).toEqual([{ starts: 1 }])
})

it('record why a statement failed, before it started or while it ran', async () => {
  await curl(url, 'SELECT * FROM nowhere', { query: { query_id: 'failed-before' } })
  await curl(url, 'SELECT throwIf(number = 5) FROM numbers(10)', { query: { query_id: 'failed-while' } })
  await flush()
  const rows = await read(
    "SELECT query_id, toString(type) AS type, exception_code FROM system.query_log WHERE query_id LIKE 'failed-%' AND exception != '' ORDER BY query_id",
  )
  expect(rows).toEqual([
    { query_id: 'failed-before', type: 'ExceptionBeforeStart', exception_code: 60 },
    { query_id: 'failed-while', type: 'ExceptionWhileProcessing', exception_code: 395 },
  ])
})

it('record parts and merges', async () => {
  await curl(url, 'CREATE TABLE parted (x UInt32) ENGINE = MergeTree ORDER BY x')
  await curl(url, 'INSERT INTO parted VALUES (1)')
  await curl(url, 'INSERT INTO parted VALUES (2)')
  await curl(url, 'OPTIMIZE TABLE parted FINAL')
  await flush()
  const rows = await read(
    "SELECT toString(event_type) AS event, count() AS times, sum(rows) AS rows FROM system.part_log WHERE table = 'parted' AND event_type IN ('NewPart', 'MergeParts') GROUP BY event ORDER BY event",
  )
  expect(rows).toEqual([
    { event: 'MergeParts', times: 1, rows: 2 },
    { event: 'NewPart', times: 2, rows: 2 },
  ])
})

it('sample the engine and the machine', async () => {
  const [row] = await read(`
    SELECT anyIf(value, metric = 'OSMemoryTotal') AS memory, anyIf(value, metric = 'MemoryResident') AS resident,
      anyIf(value, metric = 'TotalPartsOfMergeTreeTables') AS parts, count() = uniq(metric) AS distinct_metrics
    FROM system.asynchronous_metrics`)
  expect(row).toMatchObject({ distinct_metrics: 1 })
  const { memory, resident } = row as { memory: number; resident: number } // selected above as two numbers
  expect(resident).toBeGreaterThan(1e7)
  expect(memory).toBeGreaterThan(resident)
  const logged = async (): Promise<unknown> =>
    (await read('SELECT count() > 0 AS some FROM system.asynchronous_metric_log'))[0]
  expect(await logged()).toEqual({ some: 1 })
  await flush()
  expect(
    await read('SELECT count() > 0 AS some, max(CurrentMetric_MemoryTracking) > 0 AS tracked FROM system.metric_log'),
  ).toEqual([{ some: 1, tracked: 1 }])
})

it('are flushed within two seconds', async () => {
  await curl(url, 'SELECT 1', { query: { query_id: 'unflushed' } })
  const find = async (): Promise<number> =>
    (await read("SELECT 1 FROM system.query_log WHERE query_id = 'unflushed'")).length
  await expect.poll(find, { timeout: 10_000 }).toBe(2)
})
