// @module-tag long
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { startSandbox } from '../sandbox/start.ts'
import { describeWith, startNats, startRedis } from '../testing/describe-with.ts'
import { fetchJson, retryUntil } from '../testing/fetch-json.ts'
import { formatHostVariables } from '../testing/product.ts'
import { startProcess } from '../testing/product/product-process.ts'
import { reserveFreePort } from '../testing/servers/port.ts'

const testMs = 120_000
const requestEveryMs = 50
const awayMs = 2_500

describeWith(['nats', 'redis'], 'a restart of NATS', () => {
  it('fails no request that reads, and leaves the processes ready', { timeout: testMs }, async () => {
    await using scope = new AsyncDisposableStack()
    const sandbox = scope.use(await startSandbox({ seed: false }))
    const nats = scope.use(await startNats({ private: true }))
    const redis = scope.use(await startRedis())
    const port = await reserveFreePort()
    const url = `http://127.0.0.1:${port}/api/v1/tables/settings?hostId=0&limit=1`
    const variables = {
      ...formatHostVariables([{ url: sandbox.url, name: 'first' }]),
      NATS_URL: nats.url,
      REDIS_URL: redis.url,
      HOST: '127.0.0.1',
      PORT: String(port),
      RATE_LIMIT_API_PER_MIN: '1000000',
    }
    const processes = []
    for (const service of ['query', 'gateway'])
      processes.push(
        scope.use(await startProcess({ services: [service], variables, operationsPort: await reserveFreePort() })),
      )
    await retryUntil(
      () => fetchJson(url),
      ({ status }) => status === 200,
    )

    const stop = new AbortController()
    const requests: Promise<number>[] = []
    const sending = (async () => {
      while (!stop.signal.aborted) {
        requests.push(fetchJson(url).then(({ status }) => status))
        await wait(requestEveryMs)
      }
    })()
    await wait(500)
    await nats.kill()
    await wait(awayMs)
    for (const { operationsUrl } of processes) expect((await fetchJson(`${operationsUrl}/readyz`)).status).toBe(200)
    await nats.restart()
    await wait(2_000)
    stop.abort()
    await sending
    const statuses = await Promise.all(requests)
    expect(statuses.length).toBeGreaterThan(awayMs / requestEveryMs / 2)
    expect(statuses.filter((status) => status !== 200)).toEqual([])
  })
})
