// @module-tag long
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { ErrorResponse } from '#proto/http/response.ts'
import { ConnectionSessionResponse } from '#proto/http/connections.ts'
import { ChartResponse, TableResponse } from '#proto/http/data.ts'
import { type Sandbox, startSandbox } from '../sandbox/start.ts'
import { fetchJson } from '../testing/fetch-json.ts'
import { type Product, startProduct } from '../testing/product.ts'
import { describeWith } from '../testing/describe-with.ts'
import { startSeededHost } from '../testing/seeded-hosts.ts'

vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 })

describeWith(['nats', 'redis', 'postgres'], 'a second process of query, for user-supplied connections', () => {
  let own: Sandbox | undefined
  let userHost: Sandbox | undefined
  let product: Product
  let headers: Record<string, string>

  const target = () => JSON.stringify({ url: userHost?.url, user: 'default', password: '' })
  const json = { 'content-type': 'application/json' }
  const openSession = () =>
    fetchJson(`${product.url}/api/v1/browser-connections/sessions`, { method: 'POST', headers: json, body: target() })
  const settings = (more: Record<string, string> = {}) =>
    fetchJson(`${product.url}/api/v1/tables/settings?hostId=0&limit=1`, { headers: more })
  /** Returns the hosts to which a process has sent statements, according to its metrics. */
  const sentBy = async (operationsUrl: string | undefined): Promise<string[]> => {
    const { text } = await fetchJson(`${operationsUrl}/metrics`)
    const counts = text.matchAll(/^watchhouse_query_statement_duration_seconds_count\{host="([^"]+)"/gm)
    return [...new Set([...counts].map(([, host = '']) => host))]
  }

  beforeAll(async () => {
    own = await startSandbox({ label: 'own' })
    userHost = await startSeededHost('one')
    const hosts = [{ url: own.url, name: 'own' }]
    product = await startProduct({ topology: 'nats', hosts, guest: true, env: { SVC_ALLOW_PRIVATE_HOSTS: 'true' } })
    const { token, header } = ConnectionSessionResponse.parse((await openSession()).body).data
    headers = { [header]: token }
  })
  afterAll(async () => {
    await product?.stop()
    await own?.[Symbol.asyncDispose]()
    await userHost?.[Symbol.asyncDispose]()
  })

  it('alone connects to them; only the first process connects to the host list', async () => {
    const chart = await fetchJson(`${product.url}/api/v1/charts/top-table-size`, { headers })
    expect(ChartResponse.parse(chart.body).data.length).toBeGreaterThan(0)
    expect(TableResponse.parse((await settings(headers)).body).data).toHaveLength(1)
    expect(TableResponse.parse((await settings()).body).data).toHaveLength(1)
    const [first, guest] = product.operationsUrls
    expect(await sentBy(first)).toEqual(['own'])
    expect(await sentBy(guest)).toEqual(['user-connection'])
  })

  it('is not needed for the host list; without it, user-supplied connections fail', async () => {
    await product.guest?.kill()
    expect((await settings()).status).toBe(200)
    const refused = await openSession()
    expect(refused.status).toBe(503)
    expect(ErrorResponse.parse(refused.body).error.message).toContain('no process with SVC_QUERY_ROLE=guest is running')
    expect((await settings(headers)).status).toBe(503)
    await product.guest?.restart()
    expect((await settings(headers)).status).toBe(200)
  })
})
