// @module-tag long
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Sandbox, startSandbox } from '../sandbox/start.ts'
import { describeWith } from '../testing/describe-with.ts'
import { fetchJson, retryUntil } from '../testing/fetch-json.ts'
import { type Product, startProduct } from '../testing/product.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 240_000 })

const json = { 'content-type': 'application/json' }
const scope = new AsyncDisposableStack()
let product: Product
let sandbox: Sandbox
let added: Sandbox

const send = async (method: string, path: string, body?: object) => {
  const init = { method, headers: json, ...(body && { body: JSON.stringify(body) }) }
  const response = await fetchJson(`${product.url}${path}`, init)
  expect([path, response.status, response.text.slice(0, 300)]).toEqual([path, 200, expect.any(String)])
  return response
}

describeWith(['nats', 'redis', 'postgres'], 'an added host with several processes', () => {
  beforeAll(async () => {
    sandbox = scope.use(await startSandbox({ seed: false }))
    added = scope.use(await startSandbox({ seed: false }))
    product = scope.use(
      await startProduct({
        topology: 'nats',
        queryProcesses: 2,
        guest: true,
        dispatcher: true,
        hosts: [{ url: sandbox.url, name: 'first' }],
        env: {
          SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'the key of the operator, thirty-two',
          SVC_ALLOW_PRIVATE_HOSTS: 'true',
          CRON_SECRET: 'of the schedule',
          SVC_HEALTH_SWEEP_INTERVAL_MINUTES: '0',
        },
      }),
    )
  })
  afterAll(() => scope.disposeAsync())

  const sweep = async (): Promise<string> => {
    const headers = { authorization: 'Bearer of the schedule' }
    return (await fetchJson(`${product.url}/api/cron/health-sweep`, { headers })).text
  }
  const readChart = async (): Promise<number> =>
    (await fetchJson(`${product.url}/api/v1/charts/top-table-size?hostId=1`)).status

  it('is known to every process within seconds, and swept', async () => {
    const target = { url: added.url, user: 'default', password: '' }
    await send('POST', '/api/v1/hosts', { ...target, label: 'own', group: 'shop' })
    await retryUntil(
      async () => Promise.all(Array.from({ length: 8 }, readChart)),
      (statuses) => statuses.every((status) => status === 200),
      10_000,
    )
    expect(await retryUntil(sweep, (text) => text.includes('"hosts":2'), 10_000)).toContain('"hosts":2')
    const { text } = await fetchJson(`${product.url}/api/v1/hosts`)
    expect(text).toContain('"name":"own"')
    expect(product.output()).not.toContain('thirty-two')
  })

  it('is removed from every process within seconds', async () => {
    const { text } = await fetchJson(`${product.url}/api/v1/hosts`)
    const id = /"managedId":"([\w-]{22})"/.exec(text)?.[1] ?? ''
    await send('DELETE', `/api/v1/hosts/${id}`)
    await retryUntil(
      async () => Promise.all(Array.from({ length: 8 }, readChart)),
      (statuses) => statuses.every((status) => status === 404),
      10_000,
    )
    expect(await retryUntil(sweep, (found) => found.includes('"hosts":1'), 10_000)).toContain('"hosts":1')
  })
})
