import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Client } from '../client/client.ts'
import { type Sandbox, startSandbox } from '../sandbox/start.ts'
import { fetchJson, queryClickHouse, retryUntil } from '../testing/fetch-json.ts'
import { type BadHost, startHangingHost, startRefusingHost } from '../testing/bad-hosts.ts'
import { createProductClient, type Product, startProduct } from '../testing/product.ts'
import { describeOnTopologies } from '../testing/topologies.ts'

/** Timeout of a request if one of several hosts hangs, in milliseconds. */
const hangEndsWithinMs = 20_000

describeOnTopologies('a fleet', (topology) => {
  let good: Sandbox[]
  let bad: BadHost[]
  let product: Product
  let client: Client

  beforeAll(async () => {
    good = await Promise.all([startSandbox({ label: 'one' }), startSandbox({ label: 'two' })])
    bad = [await startRefusingHost(), await startHangingHost()]
    const names = ['one', 'two', 'down', 'stuck']
    const hosts = [...good, ...bad].map(({ url }, index) => ({ url, name: names[index] ?? '' }))
    product = await startProduct({ topology, hosts, env: { COLUMNDB_MAX_EXECUTION_TIME: '2' } })
    client = createProductClient(product, { timeoutMs: hangEndsWithinMs })
  })
  afterAll(async () => {
    await product?.stop()
    for (const host of [...(bad ?? []), ...(good ?? [])]) await host[Symbol.asyncDispose]()
  })

  const fleet = () => client.call('GET /api/v1/fleet')

  it('is listed with the state and load of every host, from a moment ago', async () => {
    const { data, metadata } = await retryUntil(fleet, ({ data: hosts }) =>
      hosts.every(({ status, load }) => status === 'down' || load !== null),
    )
    expect(data.map(({ id, name, status, reason }) => [id, name, status, reason])).toEqual([
      [0, 'one', 'up', undefined],
      [1, 'two', 'up', undefined],
      [2, 'down', 'down', 'unreachable'],
      [3, 'stuck', 'down', 'timeout'],
    ])
    const [said] = await queryClickHouse(good[0]?.url ?? '', 'SELECT version() AS version')
    expect(data[0]?.version).toBe(said?.version)
    expect(data[0]?.load?.memory).toBeGreaterThanOrEqual(0)
    expect(metadata.oldestMs).toBeLessThanOrEqual(10_000)
  })

  it('is exported to Prometheus by host', async () => {
    const texts = await Promise.all(product.operationsUrls.map(async (url) => (await fetchJson(`${url}/metrics`)).text))
    const lines = texts.join('\n').split('\n')
    expect(lines.filter((line) => line.startsWith('watchhouse_host_up{')).toSorted()).toEqual([
      'watchhouse_host_up{host="down"} 0',
      'watchhouse_host_up{host="one"} 1',
      'watchhouse_host_up{host="stuck"} 0',
      'watchhouse_host_up{host="two"} 1',
    ])
  })

  it('is compared without unreachable hosts', async () => {
    const query = { hosts: '0,2,3,1', differentOnly: true }
    const settings = (await client.call('GET /api/v1/settings-diff', { query })).data
    expect(settings.hosts.map(({ name, error }) => [name, error?.code])).toEqual([
      ['one', undefined],
      ['down', 'unavailable'],
      ['stuck', 'timeout'],
      ['two', undefined],
    ])
    const path = settings.rows.find(({ table, name }) => table === 'server_settings' && name === 'path')
    expect(Object.entries(path?.values ?? {}).map(([id, value]) => [id, value === null])).toEqual([
      ['0', false],
      ['1', false],
      ['2', true],
      ['3', true],
    ])
    const compared = (await client.call('GET /api/v1/compare', { query: { hosts: '0,1,2', lastHours: 1 } })).data
    expect(compared.hosts.map(({ metrics }) => metrics === null)).toEqual([false, false, true])
  })

  it('shows the cost of monitoring', async () => {
    const cost = async () => (await client.call('GET /api/v1/own-cost', { query: { hostId: 1 } })).data
    const known = await retryUntil(cost, (data) => data?.purposes.some(({ purpose }) => purpose === 'probe') ?? false)
    expect(known?.total.cpuMs).toBeGreaterThan(0)
  })
})
