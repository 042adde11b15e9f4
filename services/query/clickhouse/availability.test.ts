import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { query } from '#proto/query.ts'
import { createCall, openTestService } from '../testing/test-service.ts'
import { readTable } from '../testing/read-table.ts'
import { type StubRequest, sendResultRows, startHttpStub } from '../testing/stub-host.ts'

const hostKey = 'db'
const exception = (response: ServerResponse, code: number, name: string, sentence: string) =>
  response
    .writeHead(code === 497 ? 403 : 404)
    .end(`Code: ${code}. DB::Exception: ${sentence} (${name}) (version 25.8.1.1)`)

const openHost = async (
  capabilities: { version?: string; tables?: string[] },
  respond: (request: StubRequest, response: ServerResponse) => void,
) => {
  const stub = await startHttpStub(({ sql, ...rest }, response) => {
    const missing = sql.match(/NULL/g)?.map(() => null) ?? []
    if (sql.startsWith('SELECT version()'))
      sendResultRows(response, [['25.8.1.1', 1, 'machine', 'UTC', '0', ...missing]])
    else respond({ sql, ...rest }, response)
  }, capabilities)
  const parts = await openTestService({ COLUMNDB_HOST: stub.url, COLUMNDB_NAME: hostKey, COLUMNDB_USER: 'spy' })
  const chart = (name: string) => parts.handlers.chart({ hostKey, name, parameters: {} }, createCall())
  return {
    chart,
    overview: async () => query.methods.overview.output.parse(await parts.handlers.overview({ hostKey }, createCall())),
    table: (name: string) => readTable(parts, { hostKey, name }),
    async [Symbol.asyncDispose]() {
      await parts[Symbol.asyncDispose]()
      await stub[Symbol.asyncDispose]()
    },
  }
}

describe('a chart or table page whose table', () => {
  it('is missing is unavailable, without a statement', async () => {
    const sent: string[] = []
    await using host = await openHost({}, ({ sql }, response) => {
      sent.push(sql)
      sendResultRows(response, [[0]])
    })
    const unavailable = {
      reason: 'missing-table',
      message: 'host db has no table system.query_log',
      missingTables: ['system.query_log'],
    }
    expect(await host.chart('query-count')).toMatchObject({ rows: [], statement: null, unavailable })
    expect(await host.table('history-queries')).toMatchObject({
      head: { unavailable },
      rows: [],
      tail: { truncated: false, statement: null },
    })
    expect(new Set(sent)).toEqual(new Set(['EXISTS TABLE `system`.`query_log`']))
    expect(sent).toHaveLength(1)
  })

  it('is not readable for the user is unavailable, with the required grant', async () => {
    await using host = await openHost({}, (_, response) =>
      exception(
        response,
        497,
        'ACCESS_DENIED',
        "spy: Not enough privileges. To execute this query, it's necessary to have the grant SHOW TABLES ON system.query_log",
      ),
    )
    const { unavailable } = await host.chart('query-count')
    expect(unavailable).toMatchObject({ reason: 'permission', grant: 'GRANT SELECT ON system.query_log TO <user>' })
    expect(JSON.stringify(unavailable)).not.toContain('spy')
  })

  it('is missing is reported as missing also to a user without SHOW TABLES', async () => {
    await using host = await openHost({}, ({ sql }, response) =>
      sql.startsWith('EXISTS')
        ? exception(response, 497, 'ACCESS_DENIED', 'spy: Not enough privileges.')
        : exception(response, 60, 'UNKNOWN_TABLE', 'Unknown table expression identifier.'),
    )
    expect((await host.chart('query-count')).unavailable).toMatchObject({ reason: 'missing-table' })
  })

  it('has unreadable columns is unavailable, with the grant that the server names', async () => {
    await using host = await openHost({ tables: ['query_log'] }, (_, response) =>
      exception(
        response,
        497,
        'ACCESS_DENIED',
        "spy: Not enough privileges. To execute this query, it's necessary to have the grant SELECT(event_time, query_kind) ON system.query_log",
      ),
    )
    // Without the columns, because other pages need others.
    const grant = 'GRANT SELECT ON system.query_log TO <user>'
    expect((await host.chart('query-count')).unavailable).toMatchObject({ reason: 'permission', grant })
    expect((await host.table('history-queries')).head.unavailable).toMatchObject({ reason: 'permission', grant })
  })

  it.each([
    ['names no column', 'SELECT for at least one column on system.query_log'],
    ['is cut within the columns', 'SELECT(event_time, query_ki…'],
  ])('is unavailable with the grant for its tables if the message %s', async (_, privilege) => {
    await using host = await openHost({ tables: ['query_log'] }, (_request, response) =>
      exception(response, 497, 'ACCESS_DENIED', `spy: it's necessary to have the grant ${privilege}`),
    )
    expect((await host.chart('query-count')).unavailable).toMatchObject({
      reason: 'permission',
      grant: 'GRANT SELECT ON system.query_log TO <user>',
    })
  })

  it('requires another privilege than SELECT is unavailable, with the name of the privilege', async () => {
    await using host = await openHost({ tables: ['query_log'] }, (_, response) =>
      exception(
        response,
        497,
        'ACCESS_DENIED',
        "spy: Not enough privileges. To execute this query, it's necessary to have the grant REMOTE ON *.*.",
      ),
    )
    expect((await host.chart('query-count')).unavailable).toMatchObject({
      message: 'the user configured for host db lacks the privilege REMOTE',
      grant: 'GRANT REMOTE ON *.* TO <user>',
    })
  })

  it('was dropped after the check is unavailable', async () => {
    await using host = await openHost({ tables: ['query_log'] }, (_, response) =>
      exception(response, 60, 'UNKNOWN_TABLE', 'Table system.query_log does not exist.'),
    )
    expect((await host.chart('query-count')).unavailable).toMatchObject({ reason: 'missing-table' })
  })

  it('requires Keeper is unavailable on a host without Keeper', async () => {
    await using host = await openHost({ tables: ['distributed_ddl_queue'] }, (_, response) =>
      exception(response, 139, 'NO_ELEMENTS_IN_CONFIG', 'There is no Zookeeper configuration in server config.'),
    )
    expect((await host.table('distributed-ddl-queue')).head.unavailable).toEqual({
      reason: 'missing-table',
      message: 'host db has no Keeper, which system.distributed_ddl_queue requires',
      missingTables: ['system.distributed_ddl_queue'],
    })
  })

  it('cannot be checked fails, and is checked again by the next request', async () => {
    let hangs = true
    await using host = await openHost({}, (_, response) => {
      if (hangs) exception(response, 159, 'TIMEOUT_EXCEEDED', 'Timeout exceeded.')
      else sendResultRows(response, [[0]])
    })
    await expect(host.chart('query-count')).rejects.toMatchObject({ code: 'timeout' })
    hangs = false
    expect((await host.chart('query-count')).unavailable).toMatchObject({ reason: 'missing-table' })
  })

  it('exists only on newer servers is unavailable because of the version', async () => {
    await using host = await openHost({ version: '24.1.1.1', tables: ['view_refreshes'] }, (_, response) =>
      sendResultRows(response, [[0]]),
    )
    expect((await host.table('view-refreshes')).head.unavailable).toMatchObject({ reason: 'version' })
  })
})

describe('a metric of the overview', () => {
  const basics = ['25.8.1', 77, 'machine', 'UTC', '0']
  /** The values of a statement that reads no table. */
  const nullsOf = (sql: string): null[] => Array(sql.match(/\bNULL\b/g)?.length ?? 0).fill(null)
  const denial = (right: string) =>
    `spy: Not enough privileges. To execute this query, it's necessary to have the grant ${right}`

  it('is null with a reason when its table is unreadable or missing; databases and tables are always readable', async () => {
    await using host = await openHost({ tables: [] }, ({ sql }, response) => {
      if (sql.startsWith('EXISTS TABLE `system`.`query_log`')) sendResultRows(response, [[0]])
      else if (sql.startsWith('EXISTS')) exception(response, 497, 'ACCESS_DENIED', denial('SHOW TABLES ON system.x'))
      else if (sql.includes('LIMIT 0')) exception(response, 497, 'ACCESS_DENIED', denial('SELECT ON system.x'))
      else if (sql.includes('FROM system.settings')) sendResultRows(response, [[...basics, 8]])
      else if (sql.includes('FROM system.databases')) sendResultRows(response, [[...basics, 3, 40]])
      else sendResultRows(response, [[...basics, ...nullsOf(sql)]])
    })
    const { unavailable, ...overview } = await host.overview()
    expect(overview).toMatchObject({ databaseCount: 3, tableCount: 40, runningQueries: null, diskUsage: null })
    const closed = { reason: 'permission', grant: 'GRANT SELECT ON system.disks TO <user>' }
    expect(unavailable).toMatchObject({
      diskUsage: closed,
      diskUsedBytes: closed,
      runningQueries: { reason: 'permission', grant: 'GRANT SELECT ON system.processes TO <user>' },
      todayQueries: { reason: 'missing-table', missingTables: ['system.query_log'] },
    })
    expect(Object.keys(unavailable)).not.toContain('tableCount')
    expect(JSON.stringify(unavailable)).not.toContain('spy')
  })

  it('with unreadable columns is omitted from later statements, and the others are returned', async () => {
    let denials = 0
    await using host = await openHost({ tables: ['processes', 'merges', 'disks'] }, ({ sql, url }, response) => {
      const closed = ['processes', 'disks'].find((table) => sql.includes(`FROM system.${table}`))
      if (sql.startsWith('EXISTS')) return sendResultRows(response, [[0]])
      if (sql.includes('FROM system.databases')) return sendResultRows(response, [[...basics, 3, 4]])
      if (sql.includes('FROM system.settings')) return sendResultRows(response, [[...basics, 8]])
      if (!closed && !sql.includes('FROM')) return sendResultRows(response, [[...basics, ...nullsOf(sql)]])
      if (!closed) return sendResultRows(response, [[...basics, null, 5, ...Array(8).fill(null)]])
      if (url.searchParams.get('log_comment')?.includes('overview')) denials++
      exception(response, 497, 'ACCESS_DENIED', denial(`SELECT(total_space) ON system.${closed}`))
    })
    for (let round = 0; round < 2; round++) {
      const { unavailable, metrics } = await host.overview()
      expect(metrics).toMatchObject({ merges: 5, runningQueries: null })
      expect(unavailable.diskUsage).toMatchObject({
        reason: 'permission',
        message: 'the user configured for host db may not read system.disks',
        grant: 'GRANT SELECT ON system.disks TO <user>',
      })
    }
    expect(denials).toBe(2)
  })
})
