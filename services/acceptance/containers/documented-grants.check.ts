import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { openDefinitions } from '../../query/definitions/definitions.ts'
import { fetchJson, queryClickHouse, retryUntil } from '../../testing/fetch-json.ts'
import { type Product, startProduct } from '../../testing/product.ts'

vi.setConfig({ testTimeout: 400_000, hookTimeout: 400_000 })

const [url = ''] = process.env.TEST_CLICKHOUSE_REPLICAS?.split(',') ?? []
const run = (sql: string) => queryClickHouse(url, sql)
const database = 'granted'

const guide = await readFile(join(import.meta.dirname, '../../../web/docs/1-getting-started.md'), 'utf8')
const [, section = ''] = /## Grants of the database user([\s\S]*)/.exec(guide) ?? []

/** The statements of the guide for the rows of its table whose purpose contains one of these words. */
const readGrants = (words: readonly string[]): string[] =>
  [...section.matchAll(/^\| ([^|]+) \| ([^|]+) \|$/gm)]
    .filter(([, purpose = '']) => words.some((word) => purpose.includes(word)))
    .flatMap(([, , grants = '']) => [...grants.matchAll(/`(GRANT [^`]+)`/g)].map(([, grant = '']) => grant))

const forReading = [
  'GRANT SELECT ON system.*',
  ...readGrants(['Names of all tables', 'Users, roles', 'all hosts at once']),
]
const forFindings = readGrants(['Insights and page views'])
const forActions = readGrants(['Killing queries', 'Killing mutations', 'Optimizing tables'])

/** The users: one for each purpose with the documented grants, and one for each grant without it. */
const users = new Map<string, string[]>([
  // Page views are kept on the first host.
  ['keeper', [...forReading, ...forFindings]],
  ['reader', forReading],
  ['actor', [...forReading, ...forActions]],
])
for (const [index] of forReading.entries())
  users.set(
    `reader_without_${index}`,
    forReading.filter((_, other) => other !== index),
  )
for (const [index] of forActions.entries())
  users.set(`actor_without_${index}`, [...forReading, ...forActions.filter((_, other) => other !== index)])

const { charts, tables } = await openDefinitions(pino({ level: 'silent' }))
const definitions = [
  ...charts.map(({ name, requires }) => ({ path: `charts/${name}?`, requires })),
  ...tables.map(({ name, requires }) => ({ path: `tables/${name}?limit=10&`, requires })),
]
/** The tables of `system` that charts and pages read. */
const readTables = [...new Set(definitions.flatMap(({ requires }) => requires))].filter((name) =>
  name.startsWith('system.'),
)
/** A user that may read all tables of `system` except this one. */
const nameUserWithout = (table: string): string => `without_${table.slice('system.'.length)}`

let product: Product
let hosts: string[] = []
const denied: string[] = []

/** Runs a GRANT of the guide. Older versions lack some privileges, whose statements they reject. */
const grant = (statement: string, user: string): Promise<unknown> =>
  run(`${statement.replaceAll('<database>', database)} TO ${user}`).catch((error: unknown) => {
    if (!/READ ON REMOTE/.test(statement)) throw error
  })

beforeAll(async () => {
  await run(`CREATE DATABASE ${database}`)
  await run(`CREATE TABLE ${database}.orders (id UInt64, city String) ENGINE = MergeTree ORDER BY id`)
  await run(`INSERT INTO ${database}.orders SELECT number, 'Bern' FROM numbers(1000)`)
  await run('SYSTEM FLUSH LOGS')
  for (const [user, grants] of users) {
    await run(
      `CREATE USER ${user} IDENTIFIED WITH no_password SETTINGS readonly = ${user.startsWith('reader') ? 2 : 0}`,
    )
    for (const statement of grants) await grant(statement, user)
  }
  const existing = new Set(
    (await run("SELECT concat('system.', name) AS name FROM system.tables WHERE database = 'system'")).map(
      ({ name }) => name,
    ),
  )
  for (const table of readTables.filter((name) => existing.has(name))) {
    const user = nameUserWithout(table)
    await run(`CREATE USER ${user} IDENTIFIED WITH no_password`)
    for (const statement of forReading) await grant(statement, user)
    await run(`REVOKE SELECT ON ${table} FROM ${user}`)
    // Every user can read some tables of `system`, even without grants.
    const { ok } = await fetch(`${url}/?user=${user}`, { method: 'POST', body: `SELECT 1 FROM ${table} LIMIT 0` })
    if (!ok) denied.push(table)
  }
  hosts = [...users.keys(), ...denied.map(nameUserWithout)]
  product = await startProduct({
    hosts: hosts.map((user) => ({ url, name: user, user, password: '' })),
    env: {
      COLUMNDB_MANAGEMENT_ENABLED: 'true',
      COLUMNDB_DATABASE: database,
      CRON_SECRET: 'of the schedule',
      SVC_QUERY_CACHE: 'off',
    },
  })
})
afterAll(async () => {
  await product?.stop()
  await run(`DROP DATABASE IF EXISTS ${database} SYNC`)
  for (const user of hosts) await run(`DROP USER IF EXISTS ${user}`)
})

const Page = z.object({
  metadata: z.object({
    incomplete: z.object({ grant: z.string() }).nullable().optional(),
    unavailable: z.object({ reason: z.string(), grant: z.string().optional() }).nullable().optional(),
  }),
})

/** Returns the grant that a chart or page names as missing, the status of an error, or `complete`. */
const readMissing = async (path: string, user: string): Promise<string> => {
  const { status, body, text } = await fetchJson(`${product.url}/api/v1/${path}hostId=${hosts.indexOf(user)}`)
  if (status === 404) return 'complete'
  if (status !== 200) return `${status} ${text.slice(0, 200)}`
  const { incomplete, unavailable } = Page.parse(body).metadata
  if (unavailable?.reason === 'permission') return unavailable.grant ?? 'no grant'
  return incomplete?.grant ?? 'complete'
}

describe('the documented grants for reading', () => {
  it('suffice for every chart and page', async () => {
    const missing: string[] = []
    for (const { path } of definitions) {
      const found = await readMissing(path, 'reader')
      if (found !== 'complete') missing.push(`${path}: ${found}`)
    }
    expect(missing).toEqual([])
  })

  it.each(forReading.map((statement, index) => [statement, index] as const))(
    'are named where one is missing: %s',
    async (statement, index) => {
      const user = `reader_without_${index}`
      const isKnown = (await run(`SHOW GRANTS FOR reader`)).length > (await run(`SHOW GRANTS FOR ${user}`)).length
      const named: string[] = []
      const others: string[] = []
      for (const { path } of definitions) {
        const found = await readMissing(path, user)
        if (found.startsWith('GRANT ')) named.push(path)
        else if (found !== 'complete') others.push(`${path}: ${found}`)
      }
      expect(others).toEqual([])
      // A version without this privilege has nothing to name.
      if (isKnown)
        expect([statement, named.length]).toEqual([statement, expect.toSatisfy((count: number) => count > 0)])
    },
  )

  it('are named by every chart and page whose table is not readable', async () => {
    const silent: string[] = []
    for (const table of denied) {
      for (const { path, requires } of definitions.filter((each) => each.requires.includes(table))) {
        const found = await readMissing(path, nameUserWithout(table))
        // A page that needs several tables may name a right for another one first.
        if (!requires.some((each) => found === `GRANT SELECT ON ${each} TO <user>` || found.includes(each)))
          silent.push(`${path} without ${table}: ${found}`)
      }
    }
    expect(denied.length).toBeGreaterThan(20)
    expect(silent).toEqual([])
  })
})

describe('the documented grants for insights and page views', () => {
  it('suffice to keep them', async () => {
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify({ page: '/overview' }) }
    const { body } = await fetchJson(`${product.url}/api/v1/page-views`, init)
    expect(body).toMatchObject({ data: { kept: true } })
    const count = () => run(`SELECT count() AS views FROM ${database}.monitoring_events`).catch(() => [])
    await expect.poll(count, { timeout: 60_000 }).toEqual([{ views: 1 }])
  })
})

const act = async (user: string, action: string, params: object) => {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ action, params }),
  }
  return fetchJson(`${product.url}/api/v1/actions?hostId=${hosts.indexOf(user)}`, init)
}

const startLongQuery = async (): Promise<string> => {
  const queryId = randomUUID()
  const sql = 'SELECT sum(sleepEachRow(1)) FROM numbers(60) SETTINGS max_block_size = 1'
  fetch(`${url}/?query_id=${queryId}`, { method: 'POST', body: sql }).then(
    (response) => response.text(),
    () => '',
  )
  await retryUntil(
    () => run(`SELECT 1 AS runs FROM system.processes WHERE query_id = '${queryId}'`),
    (rows) => rows.length === 1,
  )
  return queryId
}

const startFailingMutation = async (): Promise<string> => {
  await run(
    `ALTER TABLE ${database}.orders UPDATE city = toString(throwIf(id = 1)) WHERE 1 SETTINGS mutations_sync = 0`,
  )
  const [row] = await run(
    `SELECT mutation_id FROM system.mutations WHERE database = '${database}' AND NOT is_done ORDER BY create_time DESC`,
  )
  return String(row?.['mutation_id'])
}

describe('the documented grants for actions', () => {
  const table = { database, table: 'orders' }
  const actions = [
    ['killQuery', async () => ({ queryId: await startLongQuery() })],
    ['killMutation', async () => ({ ...table, mutationId: await startFailingMutation() })],
    ['optimizeTable', async () => ({ ...table, final: true })],
  ] as const

  it.each(actions)('suffice: %s', async (action, prepare) => {
    const { status, text } = await act('actor', action, await prepare())
    expect([status, text.slice(0, 300)]).toEqual([200, expect.stringContaining('"state":"done"')])
  })

  it.each(actions.map(([action, prepare], index) => [action, prepare, forActions[index] ?? ''] as const))(
    'are named where one is missing: %s',
    async (action, prepare, statement) => {
      const { status, text } = await act(`actor_without_${forActions.indexOf(statement)}`, action, await prepare())
      const [, privilege = ''] = /^GRANT (.+) ON /.exec(statement) ?? []
      expect([status, text.slice(0, 500)]).toEqual([403, expect.stringContaining(`GRANT ${privilege}`)])
    },
  )
})
