import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { query } from '#proto/query.ts'
import { curl } from '../../sandbox/curl.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { createCall, openTestService, type TestService } from '../testing/test-service.ts'
import { readTable } from '../testing/read-table.ts'

const hostKey = 'box'
const ownStatements = 5
const text = (what: string) => `SELECT sum(number), '${what}' FROM numbers(1000)`

let sandbox: Sandbox
let parts: TestService
let queryIds: string[]

const direct = async (sql: string): Promise<string> => {
  const answer = await curl(sandbox.url, sql)
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.text.trim()
}
/** Runs a statement with the purpose `what`, like a component of Watchhouse. */
const send = async (what: string, key = hostKey, sql = text(what)) =>
  parts.client.run(parts.hosts.get(key), { what, sql }, createCall())
const flush = () => direct('SYSTEM FLUSH LOGS query_log')

const costOf = async (key = hostKey) => {
  const input = query.methods.ownCost.input.parse({ hostKey: key, lastHours: 1 })
  return query.methods.ownCost.output.parse(await parts.handlers.ownCost(input, createCall()))
}
const purpose = async (name: string) => (await costOf()).cost?.purposes.find((each) => each.purpose === name)

beforeAll(async () => {
  sandbox = await startSandbox()
  parts = await openTestService({
    COLUMNDB_HOST: [sandbox.url, sandbox.url, sandbox.url].join(','),
    COLUMNDB_NAME: 'box,careful,closed',
    COLUMNDB_USER: 'default,analyst,reports',
    COLUMNDB_PASSWORD: ',analyst,reports',
    SVC_QUERY_CACHE: 'off',
  })
  queryIds = []
  for (let index = 0; index < ownStatements; index++) queryIds.push((await send(`known/${index}`)).queryId)
  await send('known', hostKey, 'SELECT no_such_column').catch(() => undefined)
  await send('unknown', 'careful')
  await send('console')
  await direct(text('person'))
  await flush()
}, 120_000)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
})

describe('the cost of own statements', () => {
  it('equals the query log, by purpose', async () => {
    const ids = queryIds.map((id) => `'${id}'`).join(', ')
    const [rows, bytes, duration, cpu] = (
      await direct(
        `SELECT sum(read_rows), sum(read_bytes), sum(query_duration_ms),
        sum(ProfileEvents['UserTimeMicroseconds'] + ProfileEvents['SystemTimeMicroseconds']) / 1000
      FROM system.query_log WHERE type = 'QueryFinish' AND query_id IN (${ids})`,
      )
    )
      .split('\t')
      .map(Number)
    const known = await purpose('known')
    expect(known).toMatchObject({ statements: ownStatements + 1, failures: 1, readRows: rows, readBytes: bytes })
    // The failed statement may have taken some time too, so the total may be greater.
    expect(known?.durationMs).toBeGreaterThanOrEqual(duration ?? Infinity)
    expect(known?.cpuMs).toBeGreaterThanOrEqual(cpu ?? Infinity)
    expect(rows).toBe(ownStatements * 1_000)
  })

  it('includes statements without a log comment, but not those of the console', async () => {
    expect((await purpose('untagged'))?.statements).toBeGreaterThan(0)
    expect(await purpose('console')).toBeUndefined()
    expect((await purpose('probe'))?.statements).toBeGreaterThan(0)
  })

  it('adds up and has a share of the total CPU time', async () => {
    const { cost } = await costOf()
    expect(cost?.total.statements).toBe(cost?.purposes.reduce((sum, { statements }) => sum + statements, 0))
    expect(cost?.total.cpuShare).toBeGreaterThan(0)
    expect(cost?.total.cpuShare).toBeLessThan(1)
  })

  it('is grouped by purpose', async () => {
    const chart = await parts.handlers.chart({ hostKey, name: 'own-cost', lastHours: 2, parameters: {} }, createCall())
    const known = chart.rows.filter((row) => row.purpose === 'known')
    expect(known.reduce((sum, row) => sum + Number(row.statements), 0)).toBe(ownStatements + 1)
    expect(known.reduce((sum, row) => sum + Number(row.rows), 0)).toBe(ownStatements * 1_000)
  })

  it('is unavailable without access to the query log', async () => {
    expect(await costOf('closed')).toMatchObject({ cost: null, unavailable: { reason: 'permission' } })
  })
})

describe('pages of queries', () => {
  const shown = async (name: string, parameters: Record<string, number>) => {
    const { rows } = await readTable(parts, { hostKey, name, search: 'sum(number)', parameters })
    // Hosts log parameter values, so the search also finds its own statement, which is removed here.
    return rows
      .flatMap((row) => /^SELECT sum\(number\), '(\w+)(?:\/\d)?'/.exec(String(row.query))?.[1] ?? [])
      .toSorted()
  }

  it.each([
    ['history-queries', 1, {}],
    ['recent-queries', 2, {}],
    ['slow-queries', 1, { min_duration_s: 0 }],
    ['top-cpu-queries', 1, {}],
  ])('exclude own statements by default: %s', async (name, rowsEach, parameters) => {
    const people = ['console', 'person']
    const all = ['console', ...Array<string>(ownStatements).fill('known'), 'person', 'unknown']
    const rowsOf = (queries: string[]) => queries.flatMap((each) => Array<string>(rowsEach).fill(each))
    expect(await shown(name, parameters)).toEqual(rowsOf(people))
    expect(await shown(name, { ...parameters, own: 1 })).toEqual(rowsOf(all))
  })

  it('count only user patterns by default', async () => {
    const calls = async (own: boolean) => {
      const input = query.methods.fingerprints.input.parse({ hostKey, lastHours: 1, search: 'sum(number)', own })
      const { fingerprints } = query.methods.fingerprints.output.parse(
        await parts.handlers.fingerprints(input, createCall()),
      )
      return fingerprints.map((each) => each.calls)
    }
    expect(await calls(false)).toEqual([2])
    expect(await calls(true)).toEqual([ownStatements + 3])
  })

  it('have the same counts for today and for each interval', async () => {
    const today = async (own?: boolean) =>
      (await parts.handlers.overview({ hostKey, own }, createCall())).todayQueries ?? Infinity
    const rowsOf = async (name: string, parameters: Record<string, number> = {}) => {
      const { rows } = await parts.handlers.chart({ hostKey, name, lastHours: 1, parameters }, createCall())
      return rows.reduce((sum, row) => sum + Number(row.queries), 0)
    }
    const before = [await today(), await rowsOf('query-count'), await rowsOf('query-count', { own: 1 })]
    for (let index = 0; index < ownStatements; index++) await send(`known/${index}`)
    await direct(text('person'))
    await flush()
    const after = [await today(), await rowsOf('query-count'), await rowsOf('query-count', { own: 1 })]
    const [countedToday = 0, counted = 0, countedWithOwn = 0] = after.map(
      (count, index) => count - (before[index] ?? 0),
    )
    // One statement was sent by a user. The count may include flushes of this test, which are logged after their end.
    for (const count of [countedToday, counted]) {
      expect(count).toBeGreaterThan(0)
      expect(count).toBeLessThan(ownStatements)
    }
    expect(countedWithOwn).toBeGreaterThan(ownStatements)
    expect(await today(true)).toBeGreaterThan((await today()) + ownStatements)
  })
})
