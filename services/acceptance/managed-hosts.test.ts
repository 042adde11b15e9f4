// @module-tag long
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Client } from '../client/client.ts'
import { RequestError } from '../client/failure.ts'
import { type Sandbox, startSandbox } from '../sandbox/start.ts'
import { describeWith } from '../testing/describe-with.ts'
import { retryUntil } from '../testing/fetch-json.ts'
import { createProductClient, type Product, startProduct } from '../testing/product.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 240_000 })

const scope = new AsyncDisposableStack()
let product: Product
let client: Client
let sandbox: Sandbox
let added: Sandbox

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
    client = createProductClient(product)
  })
  afterAll(() => scope.disposeAsync())

  const sweep = async (): Promise<string> => {
    const headers = { authorization: 'Bearer of the schedule' }
    return JSON.stringify(await client.call('GET /api/cron/health-sweep', { query: {}, headers }))
  }
  /** Returns the status of the response. */
  const readChart = async (): Promise<number> => {
    try {
      await client.call('GET /api/v1/charts/{name}', { path: { name: 'top-table-size' }, query: { hostId: 1 } })
      return 200
    } catch (error) {
      if (error instanceof RequestError) return error.status
      throw error
    }
  }

  it('is known to every process within seconds, and swept', async () => {
    const target = { url: added.url, user: 'default', password: '' }
    await client.call('POST /api/v1/hosts', { body: { ...target, label: 'own', group: 'shop' } })
    await retryUntil(
      async () => Promise.all(Array.from({ length: 8 }, readChart)),
      (statuses) => statuses.every((status) => status === 200),
      10_000,
    )
    expect(await retryUntil(sweep, (text) => text.includes('"hosts":2'), 10_000)).toContain('"hosts":2')
    expect((await client.call('GET /api/v1/hosts')).data).toContainEqual(expect.objectContaining({ name: 'own' }))
    expect(product.output()).not.toContain('thirty-two')
  })

  it('is removed from every process within seconds', async () => {
    const { data } = await client.call('GET /api/v1/hosts')
    const id = data.find(({ name }) => name === 'own')?.managedId ?? ''
    await client.call('DELETE /api/v1/hosts/{id}', { path: { id } })
    await retryUntil(
      async () => Promise.all(Array.from({ length: 8 }, readChart)),
      (statuses) => statuses.every((status) => status === 404),
      10_000,
    )
    expect(await retryUntil(sweep, (found) => found.includes('"hosts":1'), 10_000)).toContain('"hosts":1')
  })
})
