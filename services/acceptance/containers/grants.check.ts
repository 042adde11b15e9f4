import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { fetchJson, queryClickHouse } from '../../testing/fetch-json.ts'
import { type Product, startProduct } from '../../testing/product.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: 30_000 } } })

const [url = ''] = process.env.TEST_CLICKHOUSE_REPLICAS?.split(',') ?? []
const secret = 'of the schedule'
const run = (sql: string) => queryClickHouse(url, sql)
const showGrants = ['SHOW TABLES', 'SHOW COLUMNS', 'SHOW DICTIONARIES']

let product: Product

/** Test users: `all` has every privilege, `blind` only SELECT on `system`, and each other user lacks one privilege. */
const users = ['all', 'blind', ...showGrants.map((privilege) => `no_${privilege.slice(5).toLowerCase()}`)]

beforeAll(async () => {
  await run('CREATE DATABASE hidden')
  await run(`CREATE TABLE hidden.orders (id UInt64, city String, INDEX by_city city TYPE minmax, PROJECTION by_id (SELECT id, count() GROUP BY id))
    ENGINE = MergeTree ORDER BY id`)
  await run("INSERT INTO hidden.orders SELECT number, 'Bern' FROM numbers(1000)")
  await run(`CREATE DICTIONARY hidden.cities (id UInt64, city String) PRIMARY KEY id
    SOURCE(CLICKHOUSE(TABLE 'orders' DB 'hidden')) LAYOUT(FLAT()) LIFETIME(0)`)
  await run('SYSTEM RELOAD DICTIONARY hidden.cities')
  await run('CREATE MATERIALIZED VIEW hidden.view ENGINE = MergeTree ORDER BY id AS SELECT id FROM hidden.orders')
  await run(
    "ALTER TABLE hidden.orders UPDATE city = toString(throwIf(id = 5, 'no')) WHERE 1 SETTINGS mutations_sync = 0",
  )
  for (const user of users) {
    await run(`CREATE USER ${user} IDENTIFIED WITH no_password`)
    await run(`GRANT SELECT ON system.* TO ${user}`)
    const shown = user === 'blind' ? [] : showGrants.filter((each) => user !== `no_${each.slice(5).toLowerCase()}`)
    for (const privilege of shown) await run(`GRANT ${privilege} ON *.* TO ${user}`)
  }
  product = await startProduct({
    hosts: users.map((user) => ({ url, name: user, user, password: '' })),
    env: { CRON_SECRET: secret, HEALTH_ALERT_ENABLED: 'true', SVC_QUERY_CACHE: 'off' },
  })
})
afterAll(async () => {
  await product?.stop()
  await run('DROP DATABASE IF EXISTS hidden SYNC')
  for (const user of users) await run(`DROP USER IF EXISTS ${user}`)
})

const get = async (path: string): Promise<unknown> => (await fetchJson(`${product.url}${path}`)).body

const Incomplete = z.object({ message: z.string(), grant: z.string() }).nullable().optional()
const Rows = z.object({
  data: z.array(z.record(z.string(), z.unknown())),
  metadata: z.object({ incomplete: Incomplete, unavailable: z.object({ grant: z.string().optional() }).nullable() }),
})
const Catalogue = z.object({
  data: z.object({ charts: z.array(z.object({ name: z.string() })), tables: z.array(z.object({ name: z.string() })) }),
})

describe('a user who does not see all objects', () => {
  it.each(users.slice(1))('is named with the grant where rows are missing: %s', async (user) => {
    const { data } = Catalogue.parse(await get('/api/v1/catalogue'))
    const paths = [
      ...data.charts.map(({ name }) => `/api/v1/charts/${name}?`),
      ...data.tables.map(({ name }) => `/api/v1/tables/${name}?limit=1000&`),
    ]
    const silent: string[] = []
    let less = 0
    for (const path of paths) {
      const [all, one] = await Promise.all(
        ['all', user].map(async (each) => Rows.safeParse(await get(`${path}hostId=${users.indexOf(each)}`))),
      )
      if (!all?.success || !one?.success) continue
      const { incomplete, unavailable } = one.data.metadata
      // Counts how often hidden objects are mentioned. Other rows change between two requests, so they are ignored.
      const named = (rows: unknown) => JSON.stringify(rows).split(/hidden|orders/).length
      const isLess = named(one.data.data) < named(all.data.data)
      if (isLess) less++
      if (isLess && !incomplete?.grant.includes('SHOW') && unavailable?.grant === undefined) silent.push(path)
      expect([path, all.data.metadata.incomplete ?? null]).toEqual([path, null])
    }
    expect(silent).toEqual([])
    // SHOW COLUMNS implies SHOW TABLES, so the user `no_tables` still sees all tables.
    if (user !== 'no_tables') expect(less).toBeGreaterThan(0)
  })

  it('has no figure instead of one that is too small', async () => {
    const overviewOf = async (user: string) =>
      z
        .object({
          data: z.object({ tableCount: z.number().nullable(), unavailable: z.record(z.string(), z.unknown()) }),
        })
        .parse(await get(`/api/v1/overview?hostId=${users.indexOf(user)}`)).data
    expect((await overviewOf('all')).tableCount).toBeGreaterThanOrEqual(3)
    const { tableCount, unavailable } = await overviewOf('blind')
    expect([tableCount, unavailable.tableCount]).toMatchObject([
      null,
      { reason: 'permission', grant: 'GRANT SHOW TABLES ON *.* TO <user>' },
    ])
  })

  it('is shown with the missing grants in the list of hosts', async () => {
    const Config = z.object({
      data: z.object({ hosts: z.array(z.object({ name: z.string(), missingGrants: z.array(z.string()) })) }),
    })
    const grants = async () => {
      const { hosts } = Config.parse(await get('/api/v1/config')).data
      return Object.fromEntries(hosts.map(({ name, missingGrants }) => [name, missingGrants]))
    }
    await expect.poll(grants).toEqual({
      all: [],
      blind: [`GRANT ${showGrants.join(', ')} ON *.* TO <user>`],
      no_tables: [],
      no_columns: ['GRANT SHOW COLUMNS ON *.* TO <user>'],
      no_dictionaries: ['GRANT SHOW DICTIONARIES ON *.* TO <user>'],
    })
  })

  it('makes rules report no data instead of ok, and fires a rule of its own', async () => {
    const swept = await fetchJson(`${product.url}/api/cron/health-sweep`, {
      headers: { authorization: `Bearer ${secret}` },
    })
    expect(swept.status).toBe(200)
    const Check = z.object({
      ruleId: z.string(),
      status: z.string(),
      reason: z.string().nullable(),
      value: z.number().nullable(),
    })
    const checkOf = async (user: string, rule: string) => {
      const body = await get(`/api/v1/health/checks?hostId=${users.indexOf(user)}`)
      return z
        .object({ data: z.array(Check) })
        .parse(body)
        .data.find(({ ruleId }) => ruleId === rule)
    }
    expect(await checkOf('blind', 'insufficient-grants')).toMatchObject({ status: 'warning' })
    expect(await checkOf('blind', 'failed-mutations')).toMatchObject({
      status: 'unknown',
      reason: expect.stringContaining('GRANT SHOW TABLES ON *.*'),
    })
    expect(await checkOf('all', 'insufficient-grants')).toMatchObject({ status: 'ok' })
    const seen = await checkOf('all', 'failed-mutations')
    expect(seen?.value).toBeGreaterThan(0)
  })
})
