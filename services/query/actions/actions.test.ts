import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { query } from '#proto/query.ts'
import { fetchText } from '../../sandbox/curl.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { createCall, createTwoUserSettings, openTestService, type TestService } from '../testing/test-service.ts'

const startLimitMs = 180_000
const oddName = 'a`b\\c\'"; DROP TABLE x'

let sandbox: Sandbox
let parts: TestService

const direct = (sql: string, parameters?: Record<string, string>) => fetchText(sandbox.url, sql, parameters)
const { killQuery, killMutation, optimizeTable } = query.methods
const partsOf = (table: string) =>
  direct(`SELECT count() FROM system.parts WHERE active AND database = 'acted' AND table = {table:String}`, {
    param_table: table,
  })
const quoted = (name: string) => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``

beforeAll(async () => {
  sandbox = await startSandbox()
  await direct('CREATE DATABASE acted')
  for (const name of ['plain', oddName]) {
    await direct(
      `CREATE TABLE acted.${quoted(name)} (day Date, n UInt64, v UInt8) ENGINE = MergeTree PARTITION BY day ORDER BY n`,
    )
    for (const day of ['2026-01-01', '2026-01-02']) {
      for (const n of [1, 2]) await direct(`INSERT INTO acted.${quoted(name)} VALUES ('${day}', ${n}, 0)`)
    }
  }
  await direct('CREATE VIEW acted.seen AS SELECT 1')
  parts = await openTestService(createTwoUserSettings(sandbox.url))
}, startLimitMs)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
})

describe('killing a query', () => {
  const kill = (queryId: string, hostKey = 'box') =>
    parts.handlers.killQuery(killQuery.input.parse({ hostKey, queryId }), createCall())

  it('ends it and returns its details', async () => {
    const queryId = "it's a 'runaway'"
    const runaway = direct('SELECT sum(sleepEachRow(1)) FROM numbers(60) SETTINGS max_block_size = 1', {
      query_id: queryId,
    })
    const ended = expect(runaway).rejects.toThrow(/QUERY_WAS_CANCELLED/)
    await expect
      .poll(() => direct(`SELECT count() FROM system.processes WHERE query_id = {id:String}`, { param_id: queryId }))
      .toBe('1')
    const outcome = killQuery.output.parse(await kill(queryId))
    expect(outcome).toMatchObject({ state: 'done', target: { user: 'default', kind: 'Select', cancelled: false } })
    await ended
  })

  it('returns not-found for a query that is not running', async () => {
    await expect(kill('absent')).rejects.toMatchObject({
      code: 'not-found',
      message: expect.stringContaining('absent'),
    })
  })
})

describe('optimizing a table', () => {
  const optimize = (table: string, more: Record<string, unknown> = {}, hostKey = 'box') =>
    parts.handlers.optimizeTable(
      optimizeTable.input.parse({ hostKey, database: 'acted', table, ...more }),
      createCall(),
    )

  it('merges one partition alone, then all of them', async () => {
    const [partitionId] = (
      await direct(`SELECT DISTINCT partition_id FROM system.parts WHERE table = 'plain' ORDER BY 1`)
    ).split('\n')
    expect(await optimize('plain', { partitionId, final: true })).toMatchObject({ state: 'done', target: { parts: 2 } })
    expect(await partsOf('plain')).toBe('3')
    expect(await optimize('plain', { final: true })).toMatchObject({
      state: 'done',
      target: { engine: 'MergeTree', parts: 3 },
    })
    expect(await partsOf('plain')).toBe('2')
  })

  it('quotes every table name', async () => {
    expect(await optimize(oddName, { final: true })).toMatchObject({ state: 'done' })
    expect(await partsOf(oddName)).toBe('2')
  })

  it.each([
    ['nowhere', {}, 'not-found', /unknown table "acted\.nowhere"/],
    ['seen', {}, 'conflict', /engine View/],
    ['plain', { partitionId: "x' FINAL" }, 'not-found', /unknown partition/],
  ])('%s %j is refused', async (table, more, code, sentence) => {
    await expect(optimize(table, more)).rejects.toMatchObject({ code, message: expect.stringMatching(sentence) })
  })

  it('names the missing grant to a read-only user', async () => {
    await expect(optimize('plain', {}, 'careful')).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('read-only'),
      details: { grant: 'GRANT OPTIMIZE ON `acted`.`plain`' },
    })
  })
})

describe('killing a mutation', () => {
  const kill = (mutationId: string) =>
    parts.handlers.killMutation(
      killMutation.input.parse({ hostKey: 'box', database: 'acted', table: 'plain', mutationId }),
      createCall(),
    )
  const mutations = (which: string) =>
    direct(`SELECT mutation_id FROM system.mutations WHERE table = 'plain' AND ${which}`)

  it('removes a stuck mutation and returns its remaining work', async () => {
    await direct(`ALTER TABLE acted.plain UPDATE v = throwIf(n > 0) WHERE 1 SETTINGS mutations_sync = 0`)
    await expect.poll(() => mutations("latest_fail_reason != ''")).not.toBe('')
    const mutationId = await mutations('NOT is_done')
    expect(await kill(mutationId)).toMatchObject({ state: 'done', target: { done: false, failing: true } })
    expect(await mutations('NOT is_done')).toBe('')
  })

  it('rejects a finished or unknown mutation', async () => {
    await direct('ALTER TABLE acted.plain DELETE WHERE n = 2 SETTINGS mutations_sync = 1')
    await expect(kill(await mutations('is_done'))).rejects.toMatchObject({ code: 'conflict' })
    await expect(kill('mutation_99.txt')).rejects.toMatchObject({ code: 'not-found' })
  })
})
