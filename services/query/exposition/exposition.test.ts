import { gunzipSync } from 'node:zlib'
import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { parseExposition, findSampleValue } from '../../testing/exposition-format.ts'
import { lintExposition } from '../../testing/exposition-lint.ts'
import { startSandbox } from '../../sandbox/start.ts'
import { createCall, openTestService, type TestService } from '../testing/test-service.ts'
import { sendResultRows, startHttpStub } from '../testing/stub-host.ts'
import { createExpositionHandler } from './exposition.ts'

const both = { tables: ['metrics', 'asynchronous_metrics'] }
const isBatch = (sql: string): boolean => sql.includes(' AS meaning')

/** Starts a host that responds to metric statements with `answer`, and records these statements. */
const startStub = async (answer: (response: ServerResponse, batch: number) => void, capabilities = {}) => {
  const batches: string[] = []
  const stub = await startHttpStub(
    ({ sql }, response) => {
      if (isBatch(sql)) answer(response, batches.push(sql))
      else sendResultRows(response, [['25.8.1', 1, 'stub', 'UTC', '0']])
    },
    { ...both, ...capabilities },
  )
  return { url: stub.url, batches, [Symbol.asyncDispose]: () => stub[Symbol.asyncDispose]() }
}

const openOn = (url: string): Promise<TestService> => openTestService({ COLUMNDB_HOST: url, COLUMNDB_NAME: 'db' })

/** Opens the handler with a clock that tests can advance. */
const openExposition = (parts: TestService) => {
  const clock = { aheadMs: 0, now: () => Date.now(), elapsedMs: () => performance.now() + clock.aheadMs }
  const handle = createExpositionHandler({ ...parts, clock })
  const scrape = async () => {
    const { head, frames } = await handle({ hostKey: 'db' }, createCall())
    const [piece] = await Array.fromAsync(frames)
    return { head, text: piece && gunzipSync(piece).toString('utf8') }
  }
  return { clock, scrape }
}

const threeFigures = (response: ServerResponse): void =>
  sendResultRows(response, [
    ['Query', '3', 'Queries'],
    ['jemalloc.active', 'nan', 'In C:\\\nbytes'],
    ['Max-Load', '-inf', ''],
    ['Blocks_total', '2', 'Blocks'],
    ['query', '4', 'the same name again'],
    ['Huge', '9223372036854775807', ''],
    ['Tiny', '1.5e-7', ''],
    ['Load', 'inf', ''],
  ])

describe('the metrics of a host', () => {
  it('are valid Prometheus text with names and descriptions', async () => {
    await using stub = await startStub(threeFigures)
    await using parts = await openOn(stub.url)
    const { head, text = '' } = await openExposition(parts).scrape()
    expect(text).toBe(String.raw`# HELP clickhouse_query Queries
# TYPE clickhouse_query gauge
clickhouse_query 3
# HELP clickhouse_jemalloc_active In C:\\\nbytes
# TYPE clickhouse_jemalloc_active gauge
clickhouse_jemalloc_active NaN
# HELP clickhouse_max_load Metric Max-Load of ClickHouse.
# TYPE clickhouse_max_load gauge
clickhouse_max_load -Inf
# HELP clickhouse_blocks_total_value Blocks
# TYPE clickhouse_blocks_total_value gauge
clickhouse_blocks_total_value 2
# HELP clickhouse_huge Metric Huge of ClickHouse.
# TYPE clickhouse_huge gauge
clickhouse_huge 9223372036854775807
# HELP clickhouse_tiny Metric Tiny of ClickHouse.
# TYPE clickhouse_tiny gauge
clickhouse_tiny 1.5e-7
# HELP clickhouse_load Metric Load of ClickHouse.
# TYPE clickhouse_load gauge
clickhouse_load +Inf
`)
    const families = parseExposition(text)
    expect(families.size).toBe(7)
    expect(lintExposition(families)).toEqual([])
    expect(head.failure).toBeNull()
  })

  it('of a real engine are complete and valid', async () => {
    await using sandbox = await startSandbox({ seed: false })
    await using parts = await openOn(sandbox.url)
    const { text = '' } = await openExposition(parts).scrape()
    const families = parseExposition(text)
    expect(families.size).toBeGreaterThan(300)
    expect(lintExposition(families)).toEqual([])
    expect(findSampleValue(families, 'clickhouse_uptime', {})).toBeGreaterThanOrEqual(0)
    expect(families.get('clickhouse_query')?.help).toBe('Number of executing queries')
  })

  it('share one statement within half a minute', async () => {
    await using stub = await startStub(threeFigures)
    await using parts = await openOn(stub.url)
    const { scrape, clock } = openExposition(parts)
    await Promise.all(Array.from({ length: 20 }, scrape))
    clock.aheadMs = 20_000
    const { head } = await scrape()
    expect(stub.batches).toHaveLength(1)
    expect(head.ageMs).toBeGreaterThanOrEqual(19_000)
    expect(head.freshForMs).toBeLessThanOrEqual(9_000)
    clock.aheadMs = 30_000
    expect((await scrape()).head.ageMs).toBeLessThan(5_000)
    expect(stub.batches).toHaveLength(2)
  })

  it('are the last good ones for five minutes after a failure', async () => {
    let isBroken = false
    await using stub = await startStub((response) => (isBroken ? response.end('<html>') : threeFigures(response)))
    await using parts = await openOn(stub.url)
    const { scrape, clock } = openExposition(parts)
    const good = await scrape()
    isBroken = true
    clock.aheadMs = 30_000
    const stale = await scrape()
    expect(stale.text).toBe(good.text)
    expect(stale.head).toMatchObject({ failure: 'garbage', ageMs: expect.closeTo(30_000, -4) })
    clock.aheadMs = 400_000
    const old = await scrape()
    expect(old.text).toBeUndefined()
    expect(old.head).toMatchObject({ failure: 'garbage', ageMs: null })
  })

  it('of a hung host delay only the first scrape', async () => {
    let held: ServerResponse | undefined
    await using stub = await startStub((response, batch) => {
      if (batch === 2) held = response
      else if (batch === 1) response.end('<html>')
      else threeFigures(response)
    })
    await using parts = await openOn(stub.url)
    const { scrape, clock } = openExposition(parts)
    expect((await scrape()).head.failure).toBe('garbage')
    clock.aheadMs = 30_000
    // The response arrives while the host still holds the second batch.
    expect((await scrape()).head.failure).toBe('garbage')
    await expect.poll(() => held !== undefined).toBe(true)
    if (held) threeFigures(held)
    await expect.poll(async () => (await scrape()).head.failure).toBeNull()
    expect(stub.batches).toHaveLength(2)
  })

  it('are missing with the failure of the host', async () => {
    await using stub = await startStub((response) => {
      response.writeHead(403, { 'x-clickhouse-exception-code': '516' })
      response.end('Code: 516. DB::Exception: Authentication failed. (AUTHENTICATION_FAILED)')
    })
    await using closed = await openOn(stub.url)
    expect((await openExposition(closed).scrape()).head.failure).toBe('refused')
    await using away = await openOn('http://127.0.0.1:9')
    expect((await openExposition(away).scrape()).head.failure).toBe('unreachable')
  })

  it.each(['1 2', '1\nup 1', 'NaN', '', '0x10', '1e', '{}'])('are garbage with the value %j', async (value) => {
    await using stub = await startStub((response) => sendResultRows(response, [['Query', value, '']]))
    await using parts = await openOn(stub.url)
    expect(await openExposition(parts).scrape()).toMatchObject({ head: { failure: 'garbage' }, text: undefined })
  })

  it('come from readable tables, and are rejected without any', async () => {
    await using half = await startStub(threeFigures, { tables: ['asynchronous_metrics'], version: '23.8.1.1' })
    await using parts = await openOn(half.url)
    expect((await openExposition(parts).scrape()).head.failure).toBeNull()
    expect(half.batches[0]).not.toContain('system.metrics')
    expect(half.batches[0]).not.toContain('description')
    await using none = await startStub(threeFigures, { tables: [] })
    await using closed = await openOn(none.url)
    expect((await openExposition(closed).scrape()).head.failure).toBe('forbidden')
    expect(none.batches).toEqual([])
  })
})
