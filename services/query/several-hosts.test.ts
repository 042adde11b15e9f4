import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { query } from '#proto/query.ts'
import { curl } from '../sandbox/curl.ts'
import { type Sandbox, startSandbox } from '../sandbox/start.ts'
import { createCall, openTestService, type TestService } from './testing/test-service.ts'
import { startTcpStub } from './testing/stub-host.ts'

/** The number of executions on each of the two servers. */
const runs = [4, 1]
const pattern = (rows: number) => `SELECT sum(number) FROM numbers(${rows}) WHERE number > 0`

let sandboxes: Sandbox[]
let parts: TestService

const direct = async (sql: string, host = 0): Promise<string> => {
  const { status, text } = await curl(sandboxes[host]?.url ?? '', sql)
  if (status !== 200) throw new Error(text)
  return text.trim()
}

beforeAll(async () => {
  sandboxes = await Promise.all([startSandbox(), startSandbox()])
  const gone = await startTcpStub(() => undefined)
  await gone[Symbol.asyncDispose]()
  for (const [host, times] of runs.entries()) {
    for (let time = 0; time < times; time++) await direct(pattern(1_000 + time), host)
    await direct('SYSTEM FLUSH LOGS query_log', host)
  }
  const [one = '', two = ''] = sandboxes.map(({ url }) => url)
  parts = await openTestService({
    COLUMNDB_HOST: [one, two, gone.url, one].join(','),
    COLUMNDB_NAME: 'one,two,gone,closed',
    COLUMNDB_USER: 'default,default,default,reports',
    COLUMNDB_PASSWORD: ',,,reports',
    SVC_QUERY_CACHE: 'off',
  })
}, 180_000)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await Promise.all((sandboxes ?? []).map((sandbox) => sandbox[Symbol.asyncDispose]()))
})

const cannotBeReached = { code: 'unavailable', message: 'host gone cannot be reached: nothing listens on its port' }

describe('the settings diff', () => {
  const diff = async (request: { hostKeys: string[]; changedOnly?: boolean; differentOnly?: boolean }) => {
    const input = query.methods.settingsDiff.input.parse(request)
    return query.methods.settingsDiff.output.parse(await parts.handlers.settingsDiff(input, createCall()))
  }

  it('lists all settings of the servers and marks those that differ', async () => {
    const { hosts, rows } = await diff({ hostKeys: ['one', 'two'] })
    expect(hosts.map(({ hostKey, error, unavailable }) => [hostKey, error, unavailable])).toEqual([
      ['one', null, []],
      ['two', null, []],
    ])
    for (const table of ['server_settings', 'settings', 'merge_tree_settings'] as const) {
      const rowsOfTable = rows.filter((row) => row.table === table)
      expect(rowsOfTable).toHaveLength(Number(await direct(`SELECT uniqExact(name) FROM system.${table}`)))
    }
    const path = rows.find(({ name }) => name === 'path')
    const paths = await Promise.all(
      [0, 1].map((host) => direct("SELECT value FROM system.server_settings WHERE name = 'path'", host)),
    )
    expect(path).toMatchObject({ values: paths, hasDiff: true })
    const { rows: different } = await diff({ hostKeys: ['one', 'two'], differentOnly: true })
    // Servers recompute this limit from the available memory, possibly between two reads.
    const names = (of: typeof rows) => of.map(({ name }) => name).filter((name) => name !== 'max_server_memory_usage')
    expect(names(different)).toEqual(names(rows.filter(({ hasDiff }) => hasDiff)))
  })

  it('omits the settings of its own statements', async () => {
    const { rows } = await diff({ hostKeys: ['one', 'two'], changedOnly: true })
    const names = rows.map(({ name }) => name)
    expect(names).not.toContain('log_comment')
    expect(names).not.toContain('readonly')
    expect(names).toContain('storage_file_read_method')
  })

  it('covers the other hosts when one is unreachable', async () => {
    const { hosts, rows } = await diff({ hostKeys: ['gone', 'one'] })
    expect(hosts.map(({ error }) => error)).toEqual([cannotBeReached, null])
    expect(rows.length).toBeGreaterThan(1_000)
    expect(rows.every(({ values, hasDiff }) => values[0] === null && !hasDiff)).toBe(true)
  })

  it('fails with not-found for a host that is not in the list', async () => {
    await expect(diff({ hostKeys: ['one', 'unknown'] })).rejects.toMatchObject({ code: 'not-found' })
  })
})

describe('the host comparison', () => {
  const compare = async (hostKeys: string[], limit = 200, call = createCall()) => {
    const input = query.methods.comparison.input.parse({ hostKeys, limit, lastHours: 1 })
    return query.methods.comparison.output.parse(await parts.handlers.comparison(input, call))
  }

  it('reports how often each query pattern ran, and for how long', async () => {
    const { hosts, patterns, window } = await compare(['one', 'two'])
    const hash = await direct(`SELECT toString(normalizedQueryHash('${pattern(1)}'))`)
    const found = patterns.find((each) => each.hash === hash)
    expect(found?.values.map((figures) => figures?.calls)).toEqual(runs)
    const logged = await Promise.all(
      runs.map((_, host) =>
        direct(
          `SELECT sum(query_duration_ms), sum(read_rows) FROM system.query_log
          WHERE type = 'QueryFinish' AND normalized_query_hash = ${hash}`,
          host,
        ),
      ),
    )
    expect(found?.values.map((figures) => `${figures?.totalMs}\t${figures?.readRows}`)).toEqual(logged)
    expect(hosts.map(({ status }) => status?.hostname)).toEqual([
      await direct('SELECT hostName()'),
      await direct('SELECT hostName()', 1),
    ])
    expect(hosts.map(({ metrics }) => metrics?.databases)).toEqual([1, 1])
    expect((window?.toMs ?? 0) - (window?.fromMs ?? 0)).toBe(3_600_000)
  })

  it('sorts patterns by difference and includes those that ran on one host only', async () => {
    await direct('SELECT 1 AS only_here')
    await direct('SYSTEM FLUSH LOGS query_log')
    const { patterns } = await compare(['two', 'one'])
    const found = patterns.find(({ query: text }) => text.includes('only_here'))
    expect(found?.values).toEqual([null, expect.objectContaining({ calls: 1 })])
    const apart = patterns.map(({ values: [two, one] }) => Math.abs((two?.totalMs ?? 0) - (one?.totalMs ?? 0)))
    expect(apart).toEqual(apart.toSorted((left, right) => right - left))
    expect((await compare(['two', 'one'], 1)).patterns).toHaveLength(1)
  })

  it('omits the statements of Watchhouse', async () => {
    const { patterns } = await compare(['one', 'two'])
    expect(patterns.filter(({ query: text }) => /timezone\(\)|normalizeQuery/.test(text))).toEqual([])
  })

  it('reports errors and missing permissions per host', async () => {
    const { hosts, patterns } = await compare(['gone', 'closed', 'one'])
    expect(hosts.map(({ error }) => error)).toEqual([cannotBeReached, null, null])
    expect(hosts.map(({ unavailable }) => unavailable?.reason)).toEqual([undefined, 'permission', undefined])
    expect(hosts[0]).toMatchObject({ status: null, metrics: null })
    expect(patterns.length).toBeGreaterThan(0)
    expect(patterns.every(({ values }) => values[0] === null && values[1] === null)).toBe(true)
  })

  it('rejects an invalid time range', async () => {
    const input = query.methods.comparison.input.parse({ hostKeys: ['one', 'two'], limit: 1, from: 99, to: 40_000_000 })
    await expect(parts.handlers.comparison(input, createCall())).rejects.toMatchObject({ code: 'invalid' })
  })

  it('is forbidden without the feature for key metrics', async () => {
    const identity = { kind: 'user' as const, subject: 'ada', features: ['QUERIES'] }
    await expect(compare(['one', 'two'], 1, createCall({ identity }))).rejects.toMatchObject({ code: 'forbidden' })
  })
})
