import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Sandbox, startSandbox } from './start.ts'

let sandbox: Sandbox
let client: ClickHouseClient
// The client must not log errors, because these tests send statements that the host rejects.
const quiet = { level: ClickHouseLogLevel.OFF }

beforeAll(async () => {
  sandbox = await startSandbox({ label: 'client' })
  client = createClient({
    url: sandbox.url,
    username: 'watchhouse',
    password: 'watchhouse',
    compression: { request: true, response: true },
    log: quiet,
  })
  await client.command({ query: 'CREATE TABLE readings (id UInt32, name String) ENGINE = MergeTree ORDER BY id' })
})
afterAll(async () => {
  await client.close()
  await sandbox[Symbol.asyncDispose]()
})

it('inserts objects and reads them back, compressed both ways', async () => {
  const values = Array.from({ length: 1000 }, (_, id) => ({ id, name: `reading ${id}` }))
  const { summary } = await client.insert({ table: 'readings', values, format: 'JSONEachRow' })
  expect(summary?.written_rows).toBe('1000')
  const rows = await client.query({
    query: 'SELECT id, name FROM readings WHERE id >= {from:UInt32} ORDER BY id',
    query_params: { from: 998 },
    format: 'JSONEachRow',
  })
  expect(await rows.json()).toEqual(values.slice(998))
})

it('streams rows', async () => {
  const result = await client.query({ query: 'SELECT number FROM numbers(50000)', format: 'JSONCompactEachRow' })
  let count = 0
  for await (const rows of result.stream()) count += rows.length
  expect(count).toBe(50_000)
})

it('pings', async () => {
  expect(await client.ping()).toEqual({ success: true })
  expect(await client.ping({ select: true })).toMatchObject({ success: true })
})

it('sends settings, an id and a session', async () => {
  const result = await client.query({
    query: "SELECT getSetting('max_threads') AS threads, queryID() AS id",
    query_id: 'chosen-by-the-client',
    clickhouse_settings: { max_threads: 5 },
    format: 'JSON',
  })
  expect(result.query_id).toBe('chosen-by-the-client')
  expect((await result.json()).data).toEqual([{ threads: 5, id: 'chosen-by-the-client' }])
  const session = { session_id: 'client-session' }
  await client.command({ query: 'CREATE TEMPORARY TABLE scratch (x UInt8)', ...session })
  await client.insert({ table: 'scratch', values: [{ x: 1 }], format: 'JSONEachRow', ...session })
  const scratch = await client.query({ query: 'SELECT x FROM scratch', format: 'JSONEachRow', ...session })
  expect(await scratch.json()).toEqual([{ x: 1 }])
})

it('aborts', async () => {
  const stop = new AbortController()
  const query = client.query({
    query:
      'SELECT sleepEachRow(0.5) FROM numbers(60) SETTINGS max_block_size = 1, function_sleep_max_microseconds_per_block = 0',
    query_id: 'aborted',
    clickhouse_settings: { readonly: '2' },
    abort_signal: stop.signal,
  })
  const count = async (): Promise<number> => {
    const rows = await client.query({
      query: "SELECT 1 FROM system.processes WHERE query_id = 'aborted'",
      format: 'JSONEachRow',
    })
    return (await rows.json()).length
  }
  await expect.poll(count, { timeout: 10_000 }).toBe(1)
  stop.abort()
  await expect(query).rejects.toThrow('abort')
  await expect.poll(count, { timeout: 10_000 }).toBe(0)
})

it('executes a statement and returns the raw response', async () => {
  const { stream } = await client.exec({ query: 'SELECT 1 + 1 FORMAT TSV' })
  let text = ''
  for await (const chunk of stream) text += String(chunk)
  expect(text).toBe('2\n')
})

it('reports errors with their code', async () => {
  await expect(client.query({ query: 'SELECT * FROM nowhere' })).rejects.toMatchObject({
    code: '60',
    type: 'UNKNOWN_TABLE',
  })
  const stranger = createClient({ url: sandbox.url, username: 'watchhouse', password: 'wrong', log: quiet })
  await expect(stranger.query({ query: 'SELECT 1' })).rejects.toMatchObject({
    code: '516',
    type: 'AUTHENTICATION_FAILED',
  })
  await stranger.close()
  const analyst = createClient({ url: sandbox.url, username: 'analyst', password: 'analyst', log: quiet })
  await expect(analyst.command({ query: 'DROP TABLE readings' })).rejects.toMatchObject({
    code: '164',
    type: 'READONLY',
  })
  await analyst.close()
})
