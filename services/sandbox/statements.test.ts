import { setTimeout as pause } from 'node:timers/promises'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { curl } from './curl.ts'
import { type Sandbox, startSandbox } from './start.ts'

let sandbox: Sandbox
let url: string

beforeAll(async () => {
  sandbox = await startSandbox({ label: 'statements' })
  url = sandbox.url
})
afterAll(() => sandbox[Symbol.asyncDispose]())

const running = async (id: string): Promise<string> =>
  (await curl(url, `SELECT count() FROM system.processes WHERE query_id = '${id}'`)).text.trim()

const slow =
  'SELECT sleepEachRow(0.2) FROM numbers(300) SETTINGS max_block_size = 1, function_sleep_max_microseconds_per_block = 0'

it('run in parallel', async () => {
  const startedAt = performance.now()
  const answers = await Promise.all(Array.from({ length: 8 }, () => curl(url, 'SELECT sleep(1)')))
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
  expect(performance.now() - startedAt).toBeLessThan(6000)
})

it('are listed while they run with the id, user and comment of the client', async () => {
  const stopped = new AbortController()
  const query = { query_id: 'shown', user: 'watchhouse', password: 'watchhouse', log_comment: 'nightly report' }
  const answer = curl(url, slow, { query, signal: stopped.signal }).catch(() => undefined)
  await expect.poll(() => running('shown'), { timeout: 10_000 }).toBe('1')
  const { text } = await curl(
    url,
    "SELECT user, Settings['log_comment'] AS comment, elapsed < 30 AS fresh, query LIKE 'SELECT sleepEachRow%' AS same FROM system.processes WHERE query_id = 'shown' FORMAT JSONEachRow",
  )
  expect(JSON.parse(text)).toEqual({ user: 'watchhouse', comment: 'nightly report', fresh: 1, same: 1 })
  await curl(url, "KILL QUERY WHERE query_id = 'shown' SYNC")
  stopped.abort()
  await answer
})

it('are killed by the id from the client', async () => {
  const answer = curl(url, slow, { query: { query_id: 'unwanted', wait_end_of_query: 1 } })
  await expect.poll(() => running('unwanted'), { timeout: 10_000 }).toBe('1')
  const killed = await curl(url, "KILL QUERY WHERE query_id = 'unwanted' ASYNC FORMAT JSONEachRow")
  expect(JSON.parse(killed.text)).toMatchObject({ query_id: 'unwanted', user: 'default' })
  expect((await answer).headers.get('x-clickhouse-exception-code')).toBe('394')
  await expect.poll(() => running('unwanted'), { timeout: 10_000 }).toBe('0')
})

it('end when the client disconnects', async () => {
  const hangUp = new AbortController()
  const answer = curl(url, slow, { method: 'GET', query: { query_id: 'abandoned' }, signal: hangUp.signal })
  await expect.poll(() => running('abandoned'), { timeout: 10_000 }).toBe('1')
  hangUp.abort()
  await expect(answer).rejects.toThrow('aborted')
  await expect.poll(() => running('abandoned'), { timeout: 10_000 }).toBe('0')
})

it('stream 200 MB with backpressure and without buffering them', { tags: ['long'], timeout: 30_000 }, async () => {
  const residentMib = (): number =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${sandbox.pid}/status`, 'utf8'))?.[1]) / 1024
  const before = residentMib()
  const answer = await fetch(url, {
    method: 'POST',
    body: "SELECT repeat('x', 99) FROM numbers(2e6) FORMAT RowBinary",
  })
  let bytes = 0
  let chunks = 0
  let most = 0
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length
    chunks += 1
    // The reader pauses regularly; the host must not buffer the unread rows.
    if (chunks % 100 === 0) {
      await pause(1)
      most = Math.max(most, residentMib())
    }
  }
  expect(bytes).toBe(200_000_000)
  expect(most).toBeGreaterThan(0)
  expect(most - before).toBeLessThan(120)
})
