// @module-tag long
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { startSandbox } from '../sandbox/start.ts'
import { describeWith, startNats, startRedis } from '../testing/describe-with.ts'
import { fetchJson, retryUntil } from '../testing/fetch-json.ts'
import { startProduct } from '../testing/product.ts'

const testMs = 120_000
const requestEveryMs = 50
const awayMs = 2_500

describeWith(['nats', 'redis', 'postgres'], 'a restart of NATS', () => {
  it('fails no request that reads, and leaves the processes ready', { timeout: testMs }, async () => {
    await using scope = new AsyncDisposableStack()
    const sandbox = scope.use(await startSandbox({ seed: false }))
    const nats = scope.use(await startNats({ private: true }))
    const redis = scope.use(await startRedis())
    const product = scope.use(
      await startProduct({
        topology: 'nats',
        hosts: [{ url: sandbox.url, name: 'first' }],
        env: { NATS_URL: nats.url, REDIS_URL: redis.url },
      }),
    )
    const url = `${product.url}/api/v1/tables/settings?hostId=0&limit=1`
    await retryUntil(
      () => fetchJson(url),
      ({ status }) => status === 200,
    )

    const stop = new AbortController()
    const requests: Promise<string>[] = []
    const sending = (async () => {
      while (!stop.signal.aborted) {
        requests.push(fetchJson(url).then(({ status, text }) => (status === 200 ? 'ok' : `${status} ${text}`)))
        await wait(requestEveryMs)
      }
    })()
    await wait(500)
    await nats.kill()
    await wait(awayMs)
    for (const url of product.operationsUrls) expect((await fetchJson(`${url}/readyz`)).status).toBe(200)
    await nats.restart()
    await wait(2_000)
    stop.abort()
    await sending
    const responses = await Promise.all(requests)
    expect(responses.length).toBeGreaterThan(awayMs / requestEveryMs / 2)
    expect(responses.filter((response) => response !== 'ok')).toEqual([])
  })
})
