import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { query } from '#proto/query.ts'
import { fetchText } from '../../sandbox/curl.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { createCall, openTestService, type TestService } from '../testing/test-service.ts'

const startLimitMs = 180_000
const rowsInserted = 1_000
/** Statements with user and query id. They differ in their literals, but have the same pattern. */
const readers = [
  ...Array.from({ length: 7 }, (_, index) => ({ id: `sum-${index}`, user: 'default', above: index * 100 })),
  ...Array.from({ length: 3 }, (_, index) => ({ id: `sum-by-analyst-${index}`, user: 'analyst', above: index })),
]
const reading = (above: number) => `SELECT sum(id) FROM analysis.events WHERE id > ${above}`
/** Returns a statement that fails if the table contains the value. */
const throwing = (value: number) => `SELECT throwIf(id = ${value}) FROM analysis.events`
const throwers = [5, 100_000, 6, 100_001, 7].map((value, index) => ({ id: `throw-${index}`, value }))
const failures = throwers.filter(({ value }) => value < rowsInserted).length

let sandbox: Sandbox
let elsewhere: Sandbox
let parts: TestService
let window: { from: number; to: number }

/** Queries the engine directly. */
const direct = (sql: string, parameters: Record<string, string> = {}, host = sandbox) =>
  fetchText(host.url, sql, parameters)

/** Returns the query log entries of the executions with these query ids. */
const logged = async (ids: readonly string[]) => {
  const list = ids.map((id) => `'${id}'`).join(', ')
  const text = await direct(
    `SELECT query_id, toUInt32(query_duration_ms) AS ms, toUInt32(read_rows) AS read, toUInt32(memory_usage) AS memory,
      toUInt32(result_rows) AS result, type != 'QueryFinish' AS failed, toUnixTimestamp(event_time) AS at
    FROM system.query_log WHERE type != 'QueryStart' AND query_id IN (${list}) FORMAT JSON`,
  )
  const row = z.object({
    query_id: z.string(),
    ms: z.number(),
    read: z.number(),
    memory: z.number(),
    result: z.number(),
    failed: z.number(),
    at: z.number(),
  })
  return z.object({ data: z.array(row) }).parse(JSON.parse(text)).data
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)
/** Interpolates linearly, like `quantile` of ClickHouse. */
const percentile = (values: readonly number[], level: number): number => {
  const sorted = values.toSorted((left, right) => left - right)
  const place = level * (sorted.length - 1)
  const [low = 0, high = low] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]]
  return low + (high - low) * (place - Math.floor(place))
}

const prepare = async (): Promise<void> => {
  for (const sql of [
    'CREATE DATABASE analysis',
    'CREATE TABLE analysis.events (id UInt64) ENGINE = MergeTree ORDER BY id',
    'CREATE TABLE analysis.totals (total UInt64) ENGINE = MergeTree ORDER BY tuple()',
    'CREATE MATERIALIZED VIEW analysis.totalled TO analysis.totals AS SELECT sum(id) AS total FROM analysis.events',
  ]) {
    await direct(sql)
  }
  const from = Number(await direct('SELECT toUnixTimestamp(now())'))
  await direct(`INSERT INTO analysis.events SELECT number FROM numbers(${rowsInserted})`, {
    query_id: 'fill',
    log_query_threads: '1',
    max_threads: '3',
  })
  for (const { id, user, above } of readers) {
    await direct(reading(above), { query_id: id, ...(user === 'analyst' && { user, password: user }) })
  }
  for (const { id, value } of throwers) {
    await direct(throwing(value), { query_id: id }).catch(() => undefined)
  }
  await direct('SYSTEM FLUSH LOGS')
  window = { from, to: Number(await direct('SELECT toUnixTimestamp(now()) + 1')) }
  await logPart(sandbox, 'child', 12)
  await logPart(elsewhere, 'remote', 34)
}

/** Inserts the log entry that a shard writes for a distributed query, which the embedded engine cannot run. */
const logPart = async (host: Sandbox, queryId: string, durationMs: number): Promise<void> => {
  await direct('SYSTEM FLUSH LOGS', {}, host)
  await direct(
    `INSERT INTO system.query_log
    (type, event_date, event_time, event_time_microseconds, query_id, initial_query_id, is_initial_query, query, query_kind, query_duration_ms)
    SELECT 'QueryFinish', today(), now(), now64(6), '${queryId}', 'fill', 0, 'SELECT 1', 'Select', ${durationMs}`,
    {},
    host,
  )
}

beforeAll(async () => {
  ;[sandbox, elsewhere] = await Promise.all([startSandbox(), startSandbox()])
  await prepare()
  parts = await openTestService({
    COLUMNDB_HOST: [sandbox.url, sandbox.url, sandbox.url, elsewhere.url].join(','),
    COLUMNDB_NAME: 'box,careful,closed,elsewhere',
    COLUMNDB_USER: 'default,analyst,reports,default',
    COLUMNDB_PASSWORD: ',analyst,reports,',
    SVC_QUERY_CACHE: 'off',
  })
  await vi.waitFor(
    async () => {
      const now = Number(await direct('SELECT toUnixTimestamp(now())'))
      if (now <= window.to) throw new Error('the window has not ended')
    },
    { timeout: 10_000, interval: 100 },
  )
  await direct('SYSTEM FLUSH LOGS query_log')
}, startLimitMs)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await Promise.all([sandbox?.[Symbol.asyncDispose](), elsewhere?.[Symbol.asyncDispose]()])
})

const list = async (request: Record<string, unknown> = {}) => {
  const input = query.methods.fingerprints.input.parse({ hostKey: 'box', ...window, ...request })
  return query.methods.fingerprints.output.parse(await parts.handlers.fingerprints(input, createCall()))
}
const one = async (hash: string, request: Record<string, unknown> = {}) => {
  const input = query.methods.fingerprint.input.parse({ hostKey: 'box', hash, ...window, ...request })
  return query.methods.fingerprint.output.parse(await parts.handlers.fingerprint(input, createCall()))
}
const executionsOf = async (hash: string, request: Record<string, unknown> = {}) => {
  const input = query.methods.executions.input.parse({ hostKey: 'box', hash, ...window, ...request })
  return query.methods.executions.output.parse(await parts.handlers.executions(input, createCall()))
}
const detail = async (queryId: string, hostKey = 'box') => {
  const input = query.methods.queryDetail.input.parse({ hostKey, queryId, lastHours: 2 })
  return query.methods.queryDetail.output.parse(await parts.handlers.queryDetail(input, createCall()))
}
const hashOf = (sql: string) => direct(`SELECT toString(normalizedQueryHash('${sql}'))`)

describe('query patterns', () => {
  it.each(['box', 'careful'])('have the metrics of their executions (host %s)', async (hostKey) => {
    const { fingerprints, total, unavailable } = await list({ hostKey, search: 'SUM(ID) from analysis' })
    const executions = await logged(readers.map(({ id }) => id))
    const times = executions.map(({ ms }) => ms)
    const memory = executions.map((execution) => execution.memory)
    // Sums the durations of all other clients, because the handler excludes the statements of Watchhouse.
    const timeOfAll = Number(
      await direct(`SELECT sum(query_duration_ms) FROM system.query_log WHERE type != 'QueryStart' AND is_initial_query
        AND http_user_agent != 'watchhouse' AND event_time >= ${window.from} AND event_time < ${window.to}`),
    )
    expect([unavailable, total]).toEqual([null, 1])
    expect(executions).toHaveLength(readers.length)
    const [pattern] = fingerprints
    expect(pattern).toMatchObject({
      hash: await hashOf(reading(0)),
      query: 'SELECT sum(id) FROM analysis.events WHERE id > ?',
      kind: 'Select',
      calls: readers.length,
      errors: 0,
      totalMs: sumOf(times),
      longestMs: Math.max(...times),
      readRows: sumOf(executions.map(({ read }) => read)),
      resultRows: readers.length,
      peakMemoryBytes: Math.max(...memory),
      users: ['analyst', 'default'],
      userCount: 2,
      tables: ['analysis.events'],
      firstSeenMs: Math.min(...executions.map(({ at }) => at)) * 1_000,
      lastSeenMs: Math.max(...executions.map(({ at }) => at)) * 1_000,
    })
    expect(pattern?.p50Ms).toBeCloseTo(percentile(times, 0.5), 6)
    expect(pattern?.p95Ms).toBeCloseTo(percentile(times, 0.95), 6)
    expect(pattern?.p99Ms).toBeCloseTo(percentile(times, 0.99), 6)
    expect(pattern?.averageMemoryBytes).toBeCloseTo(sumOf(memory) / memory.length, 3)
    expect(pattern?.share).toBeCloseTo(sumOf(times) / timeOfAll, 6)
  })

  it('can be limited to the queries of one user', async () => {
    const { fingerprints } = await list({ user: 'analyst', search: 'sum(id)' })
    expect(fingerprints.map(({ calls, users }) => [calls, users])).toEqual([[3, ['analyst']]])
  })

  it('are sorted and paged with an exact total', async () => {
    const all = await list({ order: 'calls', limit: 1_000 })
    expect(all.total).toBe(all.fingerprints.length)
    const calls = all.fingerprints.map((fingerprint) => fingerprint.calls)
    expect(calls).toEqual(calls.toSorted((left, right) => right - left))
    const page = await list({ order: 'calls', limit: 2, offset: 1 })
    expect(page.total).toBe(all.total)
    expect(page.fingerprints).toEqual(all.fingerprints.slice(1, 3))
    expect((await list({ offset: 1_000 })).total).toBeNull()
    expect((await list({ search: 'no such statement' })).total).toBe(0)
  })

  it('bind hostile search values as parameters', async () => {
    const given = "\\' OR 1 = 1 -- \u0000\n"
    expect(await list({ search: given, user: given })).toMatchObject({ fingerprints: [], total: 0 })
  })

  it('are unavailable without access to the query log, with the missing grant', async () => {
    const { unavailable, fingerprints } = await list({ hostKey: 'closed' })
    expect(fingerprints).toEqual([])
    expect(unavailable).toMatchObject({ reason: 'permission', grant: expect.stringContaining('system.query_log') })
  })
})

describe('one pattern', () => {
  it('returns its executions, outliers and errors', async () => {
    const { detail: found } = await one(await hashOf(throwing(5)), { executions: 4 })
    const executions = await logged(throwers.map(({ id }) => id))
    const slowest = Math.max(...executions.map(({ ms }) => ms))
    expect(found?.summary).toMatchObject({ calls: throwers.length, errors: failures })
    expect(found?.executions.map(({ queryId }) => queryId)).toEqual(['throw-4', 'throw-3', 'throw-2', 'throw-1'])
    expect(found?.slowest[0]?.durationMs).toBe(slowest)
    expect(found?.errored.map(({ queryId }) => queryId)).toEqual(['throw-4', 'throw-2', 'throw-0'])
    expect(found?.largestResult.map(({ queryId }) => queryId).toSorted()).toEqual(['throw-1', 'throw-3'])
    expect(found?.errors).toMatchObject([{ code: 395, name: 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO', count: failures }])
    expect(found?.executions[0]).toMatchObject({ failed: true, exceptionCode: 395, query: throwing(7) })
  })

  it('has a time series without gaps, whose buckets add up to the total', async () => {
    const { from, to } = window
    const request = { from: from - 3_600, to, interval: 'toStartOfMinute' }
    const { detail: found, window: used } = await one(await hashOf(reading(0)), request)
    const trend = found?.trend ?? []
    expect(used.interval).toBe('toStartOfMinute')
    expect([60, 61, 62]).toContain(trend.length)
    trend.slice(1).forEach((point, index) => expect(point.timeMs - (trend[index]?.timeMs ?? 0)).toBe(60_000))
    expect(sumOf(trend.map(({ calls }) => calls))).toBe(readers.length)
    expect(sumOf(trend.map(({ totalMs }) => totalMs))).toBe(found?.summary.totalMs)
    expect(trend[0]).toMatchObject({ calls: 0, p95Ms: null })
  })

  it('has a latency histogram per time bucket', async () => {
    const { detail: found } = await one(await hashOf(throwing(5)))
    const cells = found?.latency ?? []
    expect(sumOf(cells.map(({ calls }) => calls))).toBe(throwers.length)
    expect(sumOf(cells.map(({ errors }) => errors))).toBe(failures)
    for (const { ms } of await logged(throwers.map(({ id }) => id))) {
      expect(cells.some(({ fromMs, toMs }) => fromMs <= ms && ms < toMs)).toBe(true)
    }
    expect(cells.every(({ timeMs }) => found?.trend.some((point) => point.timeMs === timeMs))).toBe(true)
  })

  it('returns the executions in a latency range, longest first, with their count', async () => {
    const hash = await hashOf(reading(0))
    const times = (await logged(readers.map(({ id }) => id))).map(({ ms }) => ms).toSorted((a, b) => b - a)
    const all = await executionsOf(hash)
    expect(all.executions.map(({ durationMs }) => durationMs)).toEqual(times)
    const [longest = 0] = times
    const some = await executionsOf(hash, { minMs: longest, maxMs: longest + 1, limit: 1 })
    expect(some.executions.map(({ durationMs }) => durationMs)).toEqual([longest])
    expect([all.total, some.total]).toEqual([readers.length, times.filter((ms) => ms === longest).length])
    expect(await executionsOf(hash, { minMs: longest + 1 })).toMatchObject({ executions: [], total: 0 })
    expect((await executionsOf(hash, { hostKey: 'closed' })).unavailable).toMatchObject({ reason: 'permission' })
  })

  it('returns not-found for a pattern without executions', async () => {
    await expect(one('18446744073709551615')).rejects.toMatchObject({
      code: 'not-found',
      details: { parameter: 'hash' },
      message: expect.stringContaining('18446744073709551615'),
    })
  })
})

describe('one query', () => {
  it('returns its log record and every part', async () => {
    const { detail: found, unavailable } = await detail('fill')
    expect(unavailable).toBeNull()
    expect(found?.summary).toMatchObject({
      queryId: 'fill',
      status: 'finished',
      executions: 1,
      kind: 'Insert',
      user: 'default',
      isInitial: true,
      writtenRows: rowsInserted + 1,
      exceptionCode: 0,
    })
    expect(found?.settings).toContainEqual({ name: 'max_threads', value: '3' })
    const events = Number(
      await direct(
        "SELECT length(ProfileEvents) FROM system.query_log WHERE query_id = 'fill' AND type = 'QueryFinish'",
      ),
    )
    expect(found?.profileEvents).toHaveLength(events)
    expect(found?.profileEvents).toContainEqual({ name: 'InsertedRows', value: rowsInserted + 1 })
    const threads = Number(await direct("SELECT count() FROM system.query_thread_log WHERE query_id = 'fill'"))
    expect(threads).toBeGreaterThan(0)
    expect(found?.threads.rows).toHaveLength(threads)
    expect(found?.views.rows).toMatchObject([
      { view: 'analysis.totalled', target: 'analysis.totals', status: 'QueryFinish', readRows: rowsInserted },
    ])
    const processors = Number(
      await direct("SELECT uniqExact(name) FROM system.processors_profile_log WHERE query_id = 'fill'"),
    )
    expect(processors).toBeGreaterThan(0)
    expect(found?.processors.rows).toHaveLength(processors)
    expect(sumOf(found?.processors.rows.map(({ share }) => share ?? 0) ?? [])).toBeCloseTo(1, 6)
  })

  it('returns its child queries on all hosts once', async () => {
    const { detail: found } = await detail('fill')
    expect(found?.children.rows).toMatchObject([
      { host: 'elsewhere', queryId: 'remote', durationMs: 34 },
      { host: 'box', queryId: 'child', durationMs: 12, failed: false },
    ])
    expect(found?.children).toMatchObject({
      queriedHosts: ['box', 'careful', 'closed', 'elsewhere'],
      unreachableHosts: ['closed'],
      truncated: false,
      unavailable: null,
    })
  })

  it('returns the error of a failed query', async () => {
    const { detail: found } = await detail('throw-0', 'careful')
    expect(found?.summary).toMatchObject({
      status: 'failed',
      exceptionCode: 395,
      fingerprint: await hashOf(throwing(0)),
    })
    expect(found?.summary.exception).toContain('FUNCTION_THROW_IF_VALUE_IS_NON_ZERO')
  })

  it('finds a running query in the process list', async () => {
    const running = direct('SELECT sleepEachRow(0.1) FROM numbers(600) SETTINGS max_block_size = 1', {
      query_id: 'long',
    }).catch(() => 'ended')
    try {
      const { summary } = await vi.waitFor(
        async () => {
          const { detail: found } = await detail('long')
          if (!found) throw new Error('the query is not in the log yet')
          return found
        },
        { timeout: 20_000, interval: 200 },
      )
      expect(summary).toMatchObject({
        status: 'running',
        endedMs: null,
        kind: 'Select',
        user: 'default',
        executions: 0,
      })
    } finally {
      await direct("KILL QUERY WHERE query_id = 'long' SYNC")
      await running
    }
  })

  it('is not found when unknown, and unavailable without access to the log', async () => {
    await expect(detail("no'such")).rejects.toMatchObject({ code: 'not-found', details: { parameter: 'queryId' } })
    expect((await detail('fill', 'closed')).unavailable?.reason).toBe('permission')
  })
})
