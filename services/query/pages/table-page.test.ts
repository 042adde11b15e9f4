import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { query } from '#proto/query.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { createCall, type TestService, openTestService } from '../testing/test-service.ts'
import { readTable } from '../testing/read-table.ts'
import { sendResultRows, startHttpStub } from '../testing/stub-host.ts'

const hostKey = 'db'
const startMs = 60_000
let sandbox: Sandbox
let parts: TestService

beforeAll(async () => {
  sandbox = await startSandbox({ seed: false })
  parts = await openTestService({
    COLUMNDB_HOST: sandbox.url,
    COLUMNDB_NAME: hostKey,
    COLUMNDB_EXCLUDE_USER_DEFAULT: 'default',
  })
}, startMs)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
})

const direct = async (sql: string): Promise<string> => (await fetch(sandbox.url, { method: 'POST', body: sql })).text()

const settings = { hostKey, name: 'settings' }
/** The FROM and WHERE clauses that select the rows of the tested page. */
const shown = "system.settings WHERE name NOT IN ('extremes', 'max_result_rows', 'max_result_bytes')"
const exported = async (request: object) => {
  const { head, frames } = await parts.handlers.exportTable(
    query.methods.exportTable.input.parse(request),
    createCall(),
  )
  const chunks: Uint8Array[] = []
  let next = await frames.next()
  while (!next.done) {
    chunks.push(Buffer.from(next.value))
    next = await frames.next()
  }
  return { head, text: Buffer.concat(chunks).toString('utf8'), tail: next.value }
}
const options = (request: object) =>
  parts.handlers.filterOptions(query.methods.filterOptions.input.parse({ hostKey, ...request }), createCall())

describe('a table page as a file', () => {
  const sort = { column: 'name', direction: 'asc' as const }
  it.each([
    ['csv', 'CSVWithNames'],
    ['tsv', 'TabSeparatedWithNames'],
    ['jsoneachrow', 'JSONEachRow'],
  ])("is the host's own bytes in %s", async (format, hostFormat) => {
    const { text, tail } = await exported({ ...settings, sort, format, limit: 400 })
    const theirs = await direct(
      `SELECT name, value, changed, type, description, readonly FROM ${shown} ORDER BY name LIMIT 400 FORMAT ${hostFormat}`,
    )
    expect(text.length).toBeGreaterThan(10_000)
    expect(text).toBe(theirs)
    expect(tail).toEqual({ truncated: true, rows: 400 })
  })

  it('has all rows, sorted and filtered, without truncation', async () => {
    const filters = [{ column: 'name', operator: 'contains', values: ['parquet'] }]
    const names = await direct(
      "SELECT name FROM system.settings WHERE positionCaseInsensitive(name, 'parquet') > 0 ORDER BY name FORMAT TSV",
    )
    const { text, tail } = await exported({ ...settings, sort, filters, format: 'tsv' })
    const rows = text.trimEnd().split('\n').slice(1)
    expect(rows.map((row) => row.split('\t')[0])).toEqual(names.trimEnd().split('\n'))
    expect(tail).toEqual({ truncated: false, rows: rows.length })
  })
})

describe('the total of a table page', () => {
  it('is counted on request, within the filters', async () => {
    const number = Number(await direct(`SELECT count() FROM ${shown}`))
    const first = await readTable(parts, { ...settings, limit: 10, total: true })
    expect([first.tail.truncated, first.tail.total]).toEqual([true, number])
    const parquet = Number(await direct("SELECT count() FROM system.settings WHERE name ILIKE '%parquet%'"))
    const filters = [{ column: 'name', operator: 'contains' as const, values: ['parquet'] }]
    expect((await readTable(parts, { ...settings, filters, limit: 1, total: true })).tail.total).toBe(parquet)
  })

  it('is free on the last page and unknown otherwise', async () => {
    const number = Number(await direct(`SELECT count() FROM ${shown}`))
    expect((await readTable(parts, { ...settings, limit: 10 })).tail.total).toBeNull()
    expect((await readTable(parts, { ...settings, limit: 10, offset: number - 5 })).tail.total).toBe(number)
    expect((await readTable(parts, { ...settings, limit: 10, offset: number + 5 })).tail.total).toBeNull()
    expect((await readTable(parts, { ...settings, limit: 10, offset: number + 5, total: true })).tail.total).toBe(
      number,
    )
  })
})

describe('the pages of a history', () => {
  const moment = Math.floor(Date.now() / 1_000)
  /** Inserts queries with the same time into `system.query_log`; their order is undefined. */
  const log = async (ids: readonly string[], second: number) => {
    const time = { event_date: new Date(second * 1_000).toLocaleDateString('sv-SE'), event_time: second }
    const row = { ...time, type: 'QueryFinish', is_initial_query: 1, user: 'pager', query: 'SELECT paged' }
    const rows = ids.map((id) => JSON.stringify({ ...row, query_id: id, initial_query_id: id }))
    await direct(`INSERT INTO system.query_log SETTINGS log_queries = 0 FORMAT JSONEachRow ${rows.join('\n')}`)
  }
  const pageAt = async (offset: number) =>
    readTable(parts, { hostKey, name: 'history-queries', search: 'pager', limit: 7, offset, total: true })
  const pageIds = async (offset: number) => (await pageAt(offset)).rows.map((row) => String(row.query_id))

  it('contain every row once with equal sort values', async () => {
    const ids = Array.from({ length: 60 }, (_, index) => `paged-${String(index).padStart(2, '0')}`)
    // Inserts several parts, which the host reads in parallel.
    for (let part = 0; part < 5; part++)
      await log(
        ids.filter((_, index) => index % 5 === part),
        moment - 60,
      )
    const seen: string[] = []
    for (let offset = 0, more = true; more; offset += 7) {
      const { rows, tail } = await pageAt(offset)
      seen.push(...rows.map((row) => String(row.query_id)))
      expect([offset, tail.total]).toEqual([offset, ids.length])
      more = tail.truncated
    }
    expect(seen.toSorted()).toEqual(ids)
  })

  it('skip no row when new ones arrive between two pages', async () => {
    const before = [...(await pageIds(0)), ...(await pageIds(7)), ...(await pageIds(14))]
    await log(['newer-1', 'newer-2'], moment)
    // New rows push two rows of the first page to the second.
    expect(await pageIds(7)).toEqual(before.slice(5, 12))
    expect(await pageIds(14)).toEqual(before.slice(12, 19))
  })
})

describe('the first page of a log', () => {
  const countRuns = async (request: Parameters<typeof readTable>[1], variables = {}) => {
    const row = JSON.stringify({ query_id: 'q', query: 'x'.repeat(20_000) })
    let runs = 0
    await using stub = await startHttpStub(
      ({ sql }, response) => {
        if (!sql.includes('ORDER BY')) return sendResultRows(response, [])
        runs++
        response.end(`${row}\n`.repeat(2))
      },
      { tables: ['query_log', 'processes'] },
    )
    await using service = await openTestService({ COLUMNDB_HOST: stub.url, COLUMNDB_NAME: hostKey, ...variables })
    const pages = [await readTable(service, request), await readTable(service, request)]
    expect(pages.map(({ rows }) => rows)).toEqual([
      [JSON.parse(row), JSON.parse(row)],
      [JSON.parse(row), JSON.parse(row)],
    ])
    return runs
  }
  const history = { hostKey, name: 'history-queries' }

  it('is kept for the next callers', async () => {
    expect(await countRuns(history)).toBe(1)
  })

  it.each([
    ['further pages', { ...history, offset: 1 }, {}],
    ['pages of current values', { hostKey, name: 'running-queries' }, {}],
    ['any page with SVC_QUERY_CACHE off', history, { SVC_QUERY_CACHE: 'off' }],
  ])('is not kept for %s', async (_, request, variables) => {
    expect(await countRuns(request, variables)).toBe(2)
  })
})

describe('the cursor of a page', () => {
  const moment = Math.floor(Date.now() / 1_000) - 600
  const page = { hostKey, name: 'history-queries' }
  const user = (name: string) => [{ column: 'user', operator: 'eq' as const, values: [name] }]
  const log = async (name: string, rows: string) => {
    const columns =
      'type, event_date, event_time, event_time_microseconds, is_initial_query, user, query_id, query_duration_ms'
    await direct(`INSERT INTO system.query_log (${columns}) SETTINGS log_queries = 0
      SELECT 'QueryFinish', toDate(toDateTime(s)), toDateTime(s), toDateTime(s), 1, '${name}', id, d FROM (${rows})`)
  }

  it.each([
    ['time', 'desc'],
    ['time', 'asc'],
    ['duration', 'desc'],
    ['user', 'asc'],
  ] as const)(
    'continues after the last row when sorted by %s %s, although new rows arrive',
    async (column, direction) => {
      const name = `reader-${column}-${direction}`
      await log(
        name,
        `SELECT ${moment} + intDiv(number, 9) AS s, concat('r', toString(number)) AS id, number % 4 AS d FROM numbers(40)`,
      )
      const request = { ...page, filters: user(name), sort: { column, direction }, limit: 7 }
      const seen: unknown[] = []
      let cursor: string | undefined
      do {
        const { rows, tail } = await readTable(parts, { ...request, ...(cursor !== undefined && { cursor }) })
        seen.push(...rows.map((row) => row.query_id))
        if (cursor === undefined)
          // These rows precede the first page.
          await log(
            name,
            `SELECT ${moment} + ${direction === 'desc' ? 60 : -60} AS s, concat('a', toString(number)) AS id, 9 AS d FROM numbers(${column === 'user' ? 0 : 3})`,
          )
        cursor = tail.nextCursor ?? undefined
      } while (cursor !== undefined)
      expect(seen.slice(0, 40).toSorted()).toEqual(Array.from({ length: 40 }, (_, number) => `r${number}`).toSorted())
    },
  )

  it('is returned with the 250 newest rows by default; an explicit limit and an export return all', async () => {
    await log('many', `SELECT ${moment} - number AS s, toString(number) AS id, 0 AS d FROM numbers(300)`)
    const { rows, head, tail } = await readTable(parts, { ...page, filters: user('many') })
    expect(rows.map((row) => Number(row.query_id))).toEqual(Array.from({ length: 250 }, (_, number) => number))
    expect([head.limit, tail.truncated, typeof tail.nextCursor]).toEqual([250, true, 'string'])
    expect((await readTable(parts, { ...page, filters: user('many'), limit: 5_000 })).rows).toHaveLength(300)
    expect((await exported({ ...page, filters: user('many'), format: 'csv' })).tail.rows).toBe(300)
    const rest = await readTable(parts, { ...page, filters: user('many'), cursor: String(tail.nextCursor) })
    expect([rest.rows.length, rest.tail.nextCursor]).toEqual([50, null])
  })

  it('is rejected with another sort order, or if it is invalid', async () => {
    const { tail } = await readTable(parts, { ...page, limit: 1 })
    for (const request of [
      { cursor: String(tail.nextCursor), sort: { column: 'duration', direction: 'desc' as const } },
      { cursor: 'e30' },
    ])
      await expect(readTable(parts, { ...page, ...request })).rejects.toMatchObject({
        code: 'invalid',
        details: { parameter: 'cursor' },
      })
  })
})

describe('pages above the row cap', () => {
  const capped = async <T>(use: () => Promise<T>): Promise<T> => {
    parts.env.SVC_TABLE_MAX_RESULT_ROWS = '4'
    return use().finally(() => delete parts.env.SVC_TABLE_MAX_RESULT_ROWS)
  }
  const sort = { column: 'name', direction: 'asc' as const }
  const namesOf = (rows: readonly Record<string, unknown>[]) => rows.map((row) => row.name)

  it('follow each other without gaps, as rows and as files', async () => {
    const first = namesOf((await readTable(parts, { ...settings, sort, limit: 12 })).rows)
    await capped(async () => {
      const request = { ...settings, sort, limit: 6, page: 3, offset: 12 }
      expect(namesOf((await readTable(parts, request)).rows)).toEqual(first.slice(8))
      const { text } = await exported({ ...request, format: 'jsoneachrow' })
      const lines = text.trimEnd().split('\n')
      expect(namesOf(lines.map((line) => JSON.parse(line)))).toEqual(first.slice(8))
    })
  })
})

describe('the options of a filter', () => {
  it('are values by row count within the other filters', async () => {
    const counted = await direct(
      `SELECT toString(type) AS t, count() AS c FROM ${shown} GROUP BY t ORDER BY c DESC, t FORMAT TSV`,
    )
    const expected = counted
      .trimEnd()
      .split('\n')
      .map((line) => {
        const [value = '', rows] = line.split('\t')
        return { value, rows: Number(rows) }
      })
    expect(await options({ name: 'settings', column: 'type' })).toEqual({
      options: expected.slice(0, 200),
      truncated: expected.length > 200,
      unavailable: null,
    })
    const matching = await options({
      name: 'settings',
      column: 'name',
      filters: [{ column: 'name', operator: 'eq', values: ['max_threads'] }],
    })
    expect(matching.options).toEqual([{ value: 'max_threads', rows: 1 }])
  })

  it('are truncated at two hundred', async () => {
    const many = await options({ name: 'settings', column: 'name' })
    expect([many.options.length, many.truncated]).toEqual([200, true])
  })
})

describe('excluded users', () => {
  it('come from the setting unless the request overrides it', async () => {
    await direct('SELECT 1 /* included by default */')
    await direct('SYSTEM FLUSH LOGS query_log')
    const usersOf = async (parameters: Record<string, string>) =>
      (await options({ name: 'history-queries', column: 'user', parameters })).options.map(({ value }) => value)
    expect(await usersOf({})).not.toContain('default')
    expect(await usersOf({ exclude_users: '' })).toContain('default')
    const { tables } = await parts.handlers.catalogue({}, createCall())
    const page = tables.find(({ name }) => name === 'history-queries')
    expect(page?.parameters).toContainEqual(expect.objectContaining({ name: 'exclude_users', default: 'default' }))
  })
})

it('reads a cluster that the host has when it has no cluster named default', async () => {
  await using stub = await startHttpStub((_request, response) => sendResultRows(response, [['shop']]), {
    tables: ['clusters', 'parts'],
  })
  await using service = await openTestService({ COLUMNDB_HOST: stub.url, COLUMNDB_NAME: hostKey })
  const request = { kind: 'table' as const, hostKey, name: 'count-in-replicas' }
  const { parameters } = await service.handlers.definitionStatement(request, createCall())
  expect(parameters).toMatchObject({ cluster: 'shop' })
})
