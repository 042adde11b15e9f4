import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { queryClickHouse } from '../../testing/fetch-json.ts'
import { createCall, openTestService, type TestService } from '../testing/test-service.ts'
import { recordObjects } from './objects.ts'
import { readRecordedMetrics } from './recorded-metrics.ts'
import { readWatermarks, watermarkKey } from './watermarks.ts'

let host: Sandbox
let engine: Sandbox
let parts: TestService

beforeAll(async () => {
  ;[host, engine] = await Promise.all([startSandbox({ label: 'host' }), startSandbox({ label: 'history' })])
  parts = await openTestService({ COLUMNDB_HOST: host.url, COLUMNDB_NAME: 'box', SVC_HISTORY_URL: engine.url })
}, 180_000)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await Promise.all([host?.[Symbol.asyncDispose](), engine?.[Symbol.asyncDispose]()])
})

const record = async (): Promise<number> => {
  const marks = await readWatermarks(parts.history, ['box'])
  const context = {
    client: parts.client,
    host: parts.hosts.get('box'),
    recorded: readRecordedMetrics(),
    call: createCall(),
  }
  return recordObjects(parts.history, context, marks.get(watermarkKey('box', 'objects')), Date.now())
}

const readChanges = async (features: 'all' | string[] = 'all', kinds?: ('table' | 'user')[]) => {
  const call = createCall({ identity: { kind: 'user', subject: 'ada', features } })
  const request = { hostKeys: ['box'], fromMs: 0, toMs: Date.now() + 60_000, limit: 100, kinds }
  return parts.handlers.objectChanges(request, call)
}

/** Rows are distinguished by seconds. */
const nextSecond = () => new Promise((resolve) => setTimeout(resolve, 1_100))

describe('the definitions of objects', () => {
  it('are recorded when they change, and listed as unified diffs', async () => {
    await queryClickHouse(host.url, 'CREATE TABLE default.orders (id UInt64, price Float32) ORDER BY id')
    await queryClickHouse(host.url, 'CREATE TABLE default.old (id UInt64) ORDER BY id')
    expect(await record()).toBeGreaterThan(5)
    expect(await readChanges()).toEqual({ changes: [], isEnabled: true, problem: null })
    expect(await record()).toBe(0)

    await nextSecond()
    await queryClickHouse(host.url, 'ALTER TABLE default.orders MODIFY COLUMN price Float64 CODEC(ZSTD(3))')
    await queryClickHouse(host.url, 'DROP TABLE default.old')
    await queryClickHouse(
      host.url,
      "CREATE TABLE default.remote (id UInt64) ENGINE = URL('http://ada:hunter2@example.com/rows', 'CSV')",
    )
    expect(await record()).toBe(3)
    const { changes } = await readChanges()
    expect(changes.map(({ kind, name, change }) => [kind, name, change]).toSorted()).toEqual([
      ['table', 'default.old', 'removed'],
      ['table', 'default.orders', 'changed'],
      ['table', 'default.remote', 'created'],
    ])
    const changed = changes.find(({ change }) => change === 'changed')
    const lines = changed?.diff.split('\n').filter((line) => /^[-+](?![-+])/.test(line))
    expect(lines).toEqual([
      expect.stringContaining('-`price` Float32'),
      expect.stringContaining('+`price` Float64 CODEC(ZSTD(3))'),
    ])
    expect(changed?.atMs).toBeGreaterThan(Date.now() - 60_000)
    expect(JSON.stringify(changes)).not.toContain('hunter2')
  })

  it('are compared with the current schema as statements', async () => {
    const [first] = await parts.history.select(
      "SELECT toUnixTimestamp(min(time)) AS at FROM {table:objects} WHERE kind = 'table'",
      z.object({ at: z.number() }),
    )
    const atMs = (first?.at ?? 0) * 1_000
    const compare = (base: number, database = 'default') =>
      parts.handlers.schemaDiff(
        { base: { hostKeys: ['box'], atMs: base }, target: { hostKeys: ['box'] }, database },
        createCall(),
      )
    const { statements } = await compare(atMs)
    expect(statements.map(({ sql, risk }) => [sql.replace(/\(.*/s, ''), risk]).toSorted()).toEqual([
      ['ALTER TABLE `default`.`orders` MODIFY COLUMN `price` Float64 CODEC', 'rewrite'],
      ['CREATE TABLE default.remote ', 'manual'],
      ['DROP TABLE `default`.`old`', 'data-loss'],
    ])
    expect((await compare(Date.now())).differences).toEqual([])
    await expect(compare(atMs - 3_600_000)).rejects.toThrow('no schema is recorded before')
    await expect(compare(atMs, 'shop')).rejects.toThrow('unknown database "shop"')
  })

  it('are hidden from callers without the feature, and filtered by kind', async () => {
    expect((await readChanges(['METRICS'])).changes).toEqual([])
    expect((await readChanges('all', ['user'])).changes).toEqual([])
    expect((await readChanges('all', ['table'])).changes).toHaveLength(3)
  })

  it('are not available without a history', async () => {
    await using without = await openTestService({ COLUMNDB_HOST: host.url, COLUMNDB_NAME: 'box' })
    const request = { hostKeys: ['box'], fromMs: 0, toMs: 1, limit: 1 }
    expect(await without.handlers.objectChanges(request, createCall())).toEqual({
      changes: [],
      isEnabled: false,
      problem: null,
    })
  })
})
