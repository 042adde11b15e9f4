import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { query } from '#proto/query.ts'
import { fetchText } from '../../sandbox/curl.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { createCall, openTestService, type TestService } from '../testing/test-service.ts'

vi.setConfig({ hookTimeout: 180_000 })

const day = 86_400
let sandbox: Sandbox
let parts: TestService
/** The end of the last full minute by the clock of the host, in epoch seconds. */
let end: number

const direct = (sql: string) => fetchText(sandbox.url, sql)
const changesOf = async (request: Record<string, unknown> = {}) => {
  const input = query.methods.patternChanges.input.parse({ hostKey: 'box', ...request })
  return query.methods.patternChanges.output.parse(await parts.handlers.patternChanges(input, createCall()))
}

/** Inserts executions of a pattern into the log, this long before the end. */
const logExecutions = (sql: string, durationsMs: readonly number[], secondsAgo: number) =>
  direct(
    `INSERT INTO system.query_log
    (type, event_date, event_time, query_id, is_initial_query, query, normalized_query_hash, query_kind, query_duration_ms, user)
    SELECT 'QueryFinish', toDate(toDateTime(${end - secondsAgo})), toDateTime(${end - secondsAgo}), 'change', 1, '${sql}',
      normalizedQueryHash('${sql}'), 'Select', arrayJoin([${durationsMs.join(', ')}]), 'changer'`,
  )

beforeAll(async () => {
  sandbox = await startSandbox()
  end = Math.floor(Number(await direct('SELECT toUnixTimestamp(now())')) / 60) * 60
  await direct('SYSTEM FLUSH LOGS')
  await logExecutions('SELECT 1 AS much_slower', [100, 100], 45 + day)
  await logExecutions('SELECT 1 AS much_slower', [900], 45)
  await logExecutions('SELECT 1 AS slower', [1_000], 45 + day)
  await logExecutions('SELECT 1 AS slower', [5_000, 5_000], 45)
  await logExecutions('SELECT 1 AS faster', [50], 45 + day)
  await logExecutions('SELECT 1 AS faster', [0], 45)
  await logExecutions('SELECT 1 AS equal', [50], 45 + day)
  await logExecutions('SELECT 1 AS equal', [55], 45)
  await logExecutions('SELECT 1 AS new', [7, 8], 45)
  await logExecutions('SELECT 1 AS vanished', [9], 45 + day)
  // These executions are in neither range.
  await logExecutions('SELECT 1 AS elsewhere', [1], 90)
  parts = await openTestService({
    COLUMNDB_HOST: [sandbox.url, sandbox.url].join(','),
    COLUMNDB_NAME: 'box,closed',
    COLUMNDB_USER: 'default,reports',
    COLUMNDB_PASSWORD: ',reports',
    SVC_QUERY_CACHE: 'off',
  })
})
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
})

const range = () => ({ from: end - 60, to: end - 30, compareOffset: day, user: 'changer' })

describe('changes of query patterns', () => {
  it('are slower, faster, new and vanished ones, sorted by their ratio', async () => {
    const { changes, counts, window: shown, compared } = await changesOf(range())
    expect(changes.map(({ query: text, change, ratio }) => [text.replace('SELECT ? AS ', ''), change, ratio])).toEqual([
      ['much_slower', 'slower', 9],
      ['slower', 'slower', 5],
      ['faster', 'faster', 1 / 50],
      ['new', 'new', null],
      ['vanished', 'vanished', null],
    ])
    expect(counts).toEqual({ slower: 2, faster: 1, new: 1, vanished: 1, unchanged: 1 })
    expect(changes[0]).toMatchObject({
      hash: await direct(`SELECT toString(normalizedQueryHash('SELECT 1 AS much_slower'))`),
      now: { calls: 1, p95Ms: 900, errors: 0 },
      before: { calls: 2, averageMs: 100, totalMs: 200 },
    })
    expect([changes[3]?.before, changes[4]?.now]).toEqual([null, null])
    expect([compared.fromMs, compared.toMs]).toEqual([shown.fromMs - day * 1_000, shown.toMs - day * 1_000])
  })

  it('can be compared by total time, searched and limited per kind', async () => {
    const { changes } = await changesOf({ ...range(), measure: 'total' })
    expect(changes.slice(0, 2).map(({ ratio }) => ratio)).toEqual([10, 4.5])
    const one = await changesOf({ ...range(), limit: 1 })
    expect(one.changes.map(({ change }) => change)).toEqual(['slower', 'faster', 'new', 'vanished'])
    expect(one.counts.slower).toBe(2)
    expect((await changesOf({ ...range(), search: "much_slower' OR 1" })).changes).toEqual([])
    expect((await changesOf({ ...range(), search: 'MUCH_' })).changes).toHaveLength(1)
  })

  it('compare with the range directly before by default', async () => {
    const { window: shown, compared } = await changesOf({ from: end - 60, to: end - 30 })
    expect([compared.fromMs, compared.toMs]).toEqual([shown.fromMs - 30_000, shown.fromMs])
  })

  it('are unavailable without access to the query log', async () => {
    expect(await changesOf({ hostKey: 'closed' })).toMatchObject({ changes: [], unavailable: { reason: 'permission' } })
  })
})
