import { afterAll, beforeAll, expect, it } from 'vitest'
import { ChartResponse, HostsResponse, OverviewResponse, TableResponse, TableListResponse } from '#proto/http/data.ts'
import type { Sandbox } from '../sandbox/start.ts'
import { fetchJson, queryClickHouse, retryUntil } from '../testing/fetch-json.ts'
import { type Product, startProduct } from '../testing/product.ts'
import { describeOnTopologies } from '../testing/topologies.ts'
import { startSeededHost } from '../testing/seeded-hosts.ts'

const outsideSystem = "NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema')"
const dayMs = 86_400_000
const hourSeconds = 3_600

describeOnTopologies('figures', (topology) => {
  let sandboxes: Sandbox[]
  let product: Product

  beforeAll(async () => {
    const labels = ['one', 'two'] as const
    sandboxes = await Promise.all(labels.map(startSeededHost))
    const hosts = sandboxes.map(({ url }, index) => ({ url, name: labels[index] ?? '' }))
    product = await startProduct({ topology, hosts, env: { SVC_QUERY_CACHE: 'off' } })
  })
  afterAll(async () => {
    await product?.stop()
    for (const sandbox of sandboxes ?? []) await sandbox[Symbol.asyncDispose]()
  })

  const get = async (path: string): Promise<unknown> => {
    const answer = await fetchJson(`${product.url}${path}`)
    expect(answer, answer.text).toMatchObject({ status: 200 })
    return answer.body
  }
  const engine = (host: number, sql: string) => queryClickHouse(sandboxes[host]?.url ?? '', sql)

  it('lists both hosts without their addresses or passwords', async () => {
    const { data } = HostsResponse.parse(await get('/api/v1/hosts'))
    expect(data.map(({ id, name }) => ({ id, name }))).toEqual([
      { id: 0, name: 'one' },
      { id: 1, name: 'two' },
    ])
  })

  it.each([0, 1])('of the overview of host %i equal those of ClickHouse', async (host) => {
    const { data, metadata } = OverviewResponse.parse(await get(`/api/v1/overview?hostId=${host}`))
    const [said] = await engine(
      host,
      `SELECT version() AS version, hostName() AS hostname, timezone() AS timezone, uptime() AS uptime,
        (SELECT count() FROM system.databases WHERE name ${outsideSystem}) AS databases,
        (SELECT count() FROM system.tables WHERE database ${outsideSystem} AND NOT is_temporary) AS tables,
        (SELECT sum(total_space) FROM system.disks) AS disk`,
    )
    expect(metadata.host).toBe(host === 0 ? 'one' : 'two')
    expect(data.hostInfo).toMatchObject({ version: said?.version, hostname: said?.hostname, timezone: said?.timezone })
    expect(Number(said?.uptime) - data.hostInfo.uptimeSeconds).toBeLessThanOrEqual(5)
    expect(data.databaseCount).toBe(said?.databases)
    expect(data.tableCount).toBe(said?.tables)
    expect(data.diskUsage?.totalBytes).toBe(said?.disk)
  })

  it('of today’s queries include the latest ones', async () => {
    const today = async () => OverviewResponse.parse(await get('/api/v1/overview?hostId=0')).data.todayQueries ?? 0
    const before = await today()
    for (let count = 0; count < 5; count++) await engine(0, 'SELECT 1')
    await engine(0, 'SYSTEM FLUSH LOGS query_log')
    expect(await today()).toBeGreaterThanOrEqual(before + 5)
  })

  it('of a time series equal those of the log in each bucket', async () => {
    const to = Math.floor((Date.now() - dayMs) / 1000 / hourSeconds) * hourSeconds
    const from = to - 24 * hourSeconds
    const { data, metadata } = ChartResponse.parse(
      await get(`/api/v1/charts/query-count?hostId=0&from=${from}&to=${to}&interval=toStartOfHour`),
    )
    const said = await engine(
      0,
      `SELECT sum(queries) AS queries, count() AS hours FROM (SELECT toStartOfHour(event_time) AS hour, count() AS queries FROM system.query_log
        WHERE event_time >= toDateTime(${from}) AND event_time < toDateTime(${to}) AND type != 'QueryStart' AND is_initial_query GROUP BY hour)`,
    )
    const perHour = new Map<unknown, number>()
    for (const { time, queries } of data) perHour.set(time, (perHour.get(time) ?? 0) + Number(queries))
    const counted = [...perHour.values()].filter((queries) => queries > 0)
    expect(counted.reduce((sum, queries) => sum + queries, 0)).toBe(said[0]?.queries)
    expect(counted).toHaveLength(Number(said[0]?.hours))
    expect(counted.length).toBeGreaterThan(12)
    expect(metadata.window).toMatchObject({ interval: 'toStartOfHour', fromMs: from * 1000, toMs: to * 1000 })
  })

  it('of a chart of current values equal those of the parts', async () => {
    const sizes = async () => {
      const { data } = ChartResponse.parse(await get('/api/v1/charts/top-table-size?hostId=1'))
      const said = await engine(
        1,
        `SELECT concat(database, '.', table) AS table, sum(rows) AS rows FROM system.parts
          WHERE active AND database ${outsideSystem} GROUP BY table ORDER BY sum(data_compressed_bytes) DESC, table LIMIT 20`,
      )
      return { shown: data.map(({ table, rows }) => ({ table, rows })), said }
    }
    // A merge between the two requests changes the sizes, so both are repeated until they match.
    const { shown } = await retryUntil(sizes, ({ shown, said }) => JSON.stringify(shown) === JSON.stringify(said))
    expect(shown.length).toBeGreaterThan(3)
  })

  it('of a table page are the rows of ClickHouse, sorted and filtered as requested', async () => {
    const path = '/api/v1/tables/settings?hostId=0&sort=name.asc&filter=name.contains.max_threads&limit=3'
    const { data, metadata } = TableResponse.parse(await get(path))
    const sql = `SELECT name, value FROM system.settings WHERE positionCaseInsensitive(name, 'max_threads') > 0 ORDER BY name LIMIT 4`
    const said = await engine(0, sql)
    expect(data.map(({ name }) => name)).toEqual(said.slice(0, 3).map(({ name }) => name))
    expect(metadata.truncated).toBe(said.length > 3)
    expect(metadata.limit).toBe(3)
  })

  it('of the table list are all tables outside the system databases', async () => {
    const { data } = TableListResponse.parse(await get('/api/v1/tables?hostId=0'))
    const said = await engine(
      0,
      `SELECT database, name AS table FROM system.tables WHERE database ${outsideSystem} ORDER BY database, table`,
    )
    const named = data.map(({ database, table }) => `${database}.${table}`)
    expect(named.toSorted()).toEqual(
      said.map(({ database, table }) => `${String(database)}.${String(table)}`).toSorted(),
    )
    expect(named.length).toBeGreaterThan(3)
  })
})
