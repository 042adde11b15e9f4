import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { queryClickHouse } from '../../testing/fetch-json.ts'
import { startHostProxy } from '../../testing/host-proxy.ts'
import { reserveFreePort } from '../../testing/servers/port.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { createSilentTelemetry, openTestService, type TestService } from '../testing/test-service.ts'
import { groupBySlot, readSecondsBehind } from './progress.ts'
import { planBatch, type RecorderDeps } from './record-host.ts'
import { readRecordedMetrics } from './recorded-metrics.ts'
import { openRecorder, recordSlot } from './recorder.ts'
import { openHistoryStore } from './store.ts'
import { insertBatch, readWatermarks, watermarkKey } from './watermarks.ts'

const startLimitMs = 180_000
let host: Sandbox
let engine: Sandbox

beforeAll(async () => {
  ;[host, engine] = await Promise.all([startSandbox({ label: 'host' }), startSandbox({ label: 'history' })])
}, startLimitMs)
afterAll(async () => {
  await Promise.all([host?.[Symbol.asyncDispose](), engine?.[Symbol.asyncDispose]()])
})

/** Opens the service with a database of its own in the history server. */
const openService = async (more: Record<string, string> = {}) => {
  const database = `history_${randomUUID().slice(0, 8)}`
  const history = { SVC_HISTORY_URL: engine.url, SVC_HISTORY_DATABASE: database }
  const parts = await openTestService({ COLUMNDB_HOST: host.url, COLUMNDB_NAME: 'box', ...history, ...more })
  return { parts, database, deps: recorderDeps(parts) }
}

const recorderDeps = (parts: TestService): RecorderDeps => ({
  ...parts,
  telemetry: createSilentTelemetry(),
  recorded: readRecordedMetrics(),
})

const record = (deps: RecorderDeps, slot = 0) => recordSlot(deps, slot, deps.hosts.list(), new AbortController().signal)

const Numbers = z.object({ value: z.coerce.number() })

const countRows = async ({ history }: TestService, table: string, condition: string): Promise<number> =>
  (await history.select(`SELECT count() AS value FROM {table:${table}} WHERE ${condition}`, Numbers))[0]?.value ?? 0

describe('recording a host', () => {
  it('stores metrics, patterns, errors, parts and table sizes', async () => {
    const { parts, deps } = await openService()
    await using _ = parts
    await queryClickHouse(host.url, 'CREATE TABLE default.orders (id UInt64) ORDER BY id')
    await queryClickHouse(host.url, 'INSERT INTO default.orders SELECT number FROM numbers(1000)')
    await queryClickHouse(host.url, 'SELECT sum(id) FROM default.orders WHERE id > 7')
    await queryClickHouse(host.url, 'SELECT throwIf(1)').catch(() => undefined)
    await queryClickHouse(host.url, 'SYSTEM FLUSH LOGS')
    // Rows become due ten seconds after they were written, so the log is moved into the past.
    await moveLogs(host)
    expect(await record(deps)).toBe(true)
    expect(
      await countRows(parts, 'samples', "host = 'box' AND metric = 'CurrentMetric_MemoryTracking'"),
    ).toBeGreaterThan(0)
    expect(await countRows(parts, 'samples', "metric = 'AsynchronousMetric_LoadAverage1'")).toBeGreaterThan(0)
    expect(
      await countRows(parts, 'samples', "metric = 'PartNewPartRows' AND label = 'default.orders'"),
    ).toBeGreaterThan(0)
    expect(await countRows(parts, 'samples', "metric = 'TableBytes' AND label = 'default.orders'")).toBe(1)
    expect(await countRows(parts, 'samples', "metric = 'Error'")).toBeGreaterThan(0)
    const [pattern] = await parts.history.select(
      "SELECT pattern, calls, errors, durations, tables FROM {table:query_patterns} WHERE pattern LIKE '%sum%orders%'",
      z.object({
        pattern: z.string(),
        calls: z.number(),
        errors: z.number(),
        durations: z.record(z.string(), z.number()),
        tables: z.array(z.string()),
      }),
    )
    expect(pattern).toMatchObject({ calls: 1, errors: 0, tables: ['default.orders'] })
    expect(pattern?.pattern).toContain('> ?')
    expect(Object.values(pattern?.durations ?? {})).toEqual([1])
  })

  it('continues from the watermark without gap and duplicate', async () => {
    const { parts, deps } = await openService()
    await using _ = parts
    await record(deps)
    const before = await readWatermarks(parts.history, ['box'])
    await record(deps)
    expect(await readWatermarks(parts.history, ['box'])).toEqual(before)
  })
})

describe('a batch', () => {
  const source = { name: 'metrics', table: 'samples' } as const
  const rows = [{ metric: 'm', time: 1_800_000_000, sum: 1, count: 1, highest: 1 }]
  const batch = { host: 'box', source, before: undefined, rows, recordedMs: 5 }

  it('is stored once, even if a second one continues from the same watermark with another end', async () => {
    const { parts } = await openService()
    await using _ = parts
    await insertBatch(parts.history, { ...batch, period: { from: 1_800_000_000, until: 1_800_000_060 } })
    await insertBatch(parts.history, { ...batch, period: { from: 1_800_000_000, until: 1_800_000_090 }, recordedMs: 6 })
    const marks = await readWatermarks(parts.history, ['box'])
    expect(marks.get(watermarkKey('box', 'metrics'))).toEqual({ until: 1_800_000_060, recordedMs: 5 })
    expect(await countRows(parts, 'samples', "metric = 'm'")).toBe(1)
  })

  it('is due once a minute, limited in length and within one week', () => {
    const plan = (until: number | undefined, end: number, now = end + 10) =>
      planBatch({ log: 'metric_log' }, until === undefined ? undefined : { until, recordedMs: 1 }, { end, now })
    const monday = 1_799_625_600
    expect(new Date(monday * 1_000).getUTCDay()).toBe(1)
    expect(plan(monday + 100, monday + 120)).toBeUndefined()
    expect(plan(monday + 100, monday + 150)).toEqual({ from: monday + 100, until: monday + 150 })
    expect(plan(monday + 100, monday + 90_000)).toEqual({ from: monday + 100, until: monday + 700 })
    expect(plan(monday - 60, monday + 90_000)).toEqual({ from: monday - 60, until: monday })
    expect(plan(undefined, monday + 90_000)).toEqual({ from: monday + 86_400, until: monday + 87_000 })
    // The clock of the host was set back by an hour.
    expect(plan(monday + 3_600, monday + 600)).toEqual({ from: monday + 555, until: monday + 600 })
  })
})

describe('the history store', () => {
  it('is refused for a database of another installation', async () => {
    const { parts, database } = await openService()
    await using _ = parts
    await readWatermarks(parts.history, ['box'])
    const second = await openTestService({
      SVC_HISTORY_URL: engine.url,
      SVC_HISTORY_DATABASE: database,
      COLUMNDB_HOST: host.url,
    })
    await using _second = second
    await expect(readWatermarks(second.history, ['box'])).rejects.toThrow(/belongs to the installation "watchhouse-/)
    expect(second.history.problem).toMatch(/choose another SVC_HISTORY_DATABASE/)
  })

  it('creates lost tables again', async () => {
    const { parts, database } = await openService()
    await using _ = parts
    await readWatermarks(parts.history, ['box'])
    await queryClickHouse(engine.url, `DROP DATABASE ${database}`)
    await expect(readWatermarks(parts.history, ['box'])).rejects.toThrow(/UNKNOWN_(DATABASE|TABLE)/)
    expect(await readWatermarks(parts.history, ['box'])).toEqual(new Map())
  })

  it('applies a changed retention', async () => {
    const { parts, database } = await openService()
    await using _ = parts
    await readWatermarks(parts.history, ['box'])
    await queryClickHouse(engine.url, `TRUNCATE TABLE ${database}.owner`)
    const changed = await openTestService({
      COLUMNDB_HOST: host.url,
      SVC_HISTORY_URL: engine.url,
      SVC_HISTORY_DATABASE: database,
      SVC_HISTORY_RETENTION: '1d,2d,3d',
    })
    await using _changed = changed
    await readWatermarks(changed.history, ['box'])
    const ddl = JSON.stringify(await queryClickHouse(engine.url, `SHOW CREATE TABLE ${database}.samples`))
    expect(ddl).toContain('time + toIntervalDay(3)')
    expect(ddl).toContain('retention 1d,2d,3d')
  })

  it('combines old rows into intervals of five minutes and of an hour', async () => {
    const { parts, database } = await openService()
    await using _ = parts
    await readWatermarks(parts.history, ['box'])
    await queryClickHouse(
      engine.url,
      `INSERT INTO ${database}.samples (host, metric, time, sum, count, highest)
SELECT 'box', 'm', toStartOfHour(now() - toIntervalDay(days)) + 60 * number, 1, 60, number FROM numbers(180) AS minutes ARRAY JOIN [0, 20, 100, 500] AS days`,
    )
    await queryClickHouse(engine.url, `OPTIMIZE TABLE ${database}.samples FINAL`)
    const stored = await parts.history.select(
      `SELECT dateDiff('day', time, now()) AS days, count() AS rows, sum(sum) AS total, sum(count) AS seconds, max(highest) AS most
FROM {table:samples} WHERE metric = 'm' GROUP BY toDate(time), days ORDER BY rows`,
      z.object({ rows: z.coerce.number(), total: z.number(), seconds: z.coerce.number(), most: z.number() }),
    )
    const combined = { total: 180, seconds: 10_800, most: 179 }
    expect(stored).toEqual([
      { rows: 3, ...combined },
      { rows: 36, ...combined },
      { rows: 180, ...combined },
    ])
  })

  it('needs privileges on its database only', async () => {
    // The user `reports` of the embedded server may read other databases, but not create this one.
    const database = `history_${randomUUID().slice(0, 8)}`
    await using parts = await openTestService({
      COLUMNDB_HOST: host.url,
      SVC_HISTORY_URL: engine.url,
      SVC_HISTORY_DATABASE: database,
      SVC_HISTORY_USER: 'reports',
      SVC_HISTORY_PASSWORD: 'reports',
    })
    await expect(readWatermarks(parts.history, ['box'])).rejects.toThrow(
      'the user "reports" lacks the grant CREATE DATABASE',
    )
    expect(parts.history.problem).toContain(`CREATE DATABASE ON ${database}`)
  })

  it('refuses a server that is too old', async () => {
    await using old = await startHostProxy(engine.url, async (body) =>
      body.toString().replace('version()', "'22.8.21.38'"),
    )
    const { parts } = await openService({ SVC_HISTORY_URL: old.url })
    await using _ = parts
    const reason = 'ClickHouse 22.8.21.38 is too old; use 23.8 or newer'
    await expect(readWatermarks(parts.history, ['box'])).rejects.toThrow(reason)
  })

  it('adds the columns of newer versions to existing tables', async () => {
    const { parts, database } = await openService()
    await using _ = parts
    await readWatermarks(parts.history, ['box'])
    await queryClickHouse(engine.url, `ALTER TABLE ${database}.log_lines DROP COLUMN logger`)
    await using restarted = openHistoryStore({ ...parts, log: createSilentTelemetry().log })
    expect(await restarted.select('SELECT logger FROM {table:log_lines}', z.unknown())).toEqual([])
  })

  it('does not contact an unreachable server for each request', async () => {
    const server = { isDown: true, requests: 0 }
    await using proxy = await startHostProxy(engine.url, async (body) => {
      server.requests++
      if (server.isDown) throw new Error('down')
      return body
    })
    const { parts } = await openService({ SVC_HISTORY_URL: proxy.url })
    await using _ = parts
    await expect(readWatermarks(parts.history, ['box'])).rejects.toThrow('cannot be reached')
    const { requests } = server
    server.isDown = false
    await expect(readWatermarks(parts.history, ['box'])).rejects.toThrow('cannot be reached')
    expect(server.requests).toBe(requests)
  })

  it('counts how far hosts are behind that were never recorded', async () => {
    const { parts, deps } = await openService({ SVC_HISTORY_URL: `http://127.0.0.1:${await reserveFreePort()}` })
    await using _ = parts
    const [slot = 0] = groupBySlot(deps.hosts.list()).keys()
    await expect(record(deps, slot)).rejects.toThrow('cannot be reached')
    expect(await readSecondsBehind(deps.store, 'box', Date.now() + 600_000)).toBeGreaterThanOrEqual(600)
  })

  it('is disabled without a server', async () => {
    await using parts = await openTestService({ COLUMNDB_HOST: host.url })
    await using recorder = openRecorder(recorderDeps(parts))
    expect(recorder).toBeDefined()
    await expect(readWatermarks(parts.history, ['box'])).rejects.toThrow('SVC_HISTORY_URL is not set')
  })
})

/** Moves all rows of the logs that the recorder reads a minute into the past. */
const moveLogs = async ({ url }: Sandbox): Promise<void> => {
  for (const log of ['query_log', 'part_log', 'metric_log', 'asynchronous_metric_log', 'error_log'])
    await queryClickHouse(
      url,
      `INSERT INTO system.${log} SELECT * REPLACE (event_time - 70 AS event_time, toDate(event_time - 70) AS event_date) FROM (SELECT * FROM system.${log} WHERE event_time > now() - 60)`,
    )
}
