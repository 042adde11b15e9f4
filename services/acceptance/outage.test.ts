// @module-tag long
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { ErrorResponse } from '#proto/http/response.ts'
import { startSandbox } from '../sandbox/start.ts'
import { fetchJson, retryUntil } from '../testing/fetch-json.ts'
import { startPausableHost } from '../testing/pausable-host.ts'
import { startProduct } from '../testing/product.ts'
import { describeWith } from '../testing/describe-with.ts'

/** Maximum duration of a request to a missing service, in milliseconds. Callers time out after 5 s without a frame. */
const silenceEndsWithinMs = 7_000
const atOnceMs = 1_000
/** A request waits this long for a process that was running until recently. */
const unheardMs = 3_000
const requestEveryMs = 200

vi.setConfig({ testTimeout: 60_000 })

describeWith(['nats', 'redis', 'postgres'], 'a query process that is killed', () => {
  it('makes the gateway wait for another one, fail in a few seconds, and recover with it', async () => {
    await using sandbox = await startSandbox()
    await using host = await startPausableHost(sandbox.url)
    await using product = await startProduct({ topology: 'nats', hosts: [{ url: host.url, name: 'one' }] })
    const rows = () => fetchJson(`${product.url}/api/v1/tables/settings?hostId=0&limit=1`)
    expect((await rows()).status).toBe(200)

    host.hold()
    const inFlight = fetchJson(`${product.url}/api/v1/tables/disks?hostId=0`)
    await retryUntil(
      async () => host.waiting('system.disks'),
      (waiting) => waiting === 1,
    )
    await product.query.kill()
    host.release()

    const cutOff = await inFlight
    expect(cutOff.status).toBe(503)
    expect(cutOff.tookMs).toBeLessThan(silenceEndsWithinMs)
    const unheard = await rows()
    expect(unheard.status).toBe(503)
    expect(ErrorResponse.parse(unheard.body).error.type).toBe('unavailable')
    expect(unheard.tookMs).toBeLessThan(unheardMs + atOnceMs)
    expect((await fetchJson(`${product.url}/api/healthz`)).status).toBe(200)
    expect((await fetchJson(`${product.gateway.operationsUrl}/readyz`)).status).toBe(200)

    const requests: { sentMs: number; response: ReturnType<typeof rows> }[] = []
    const restart = product.query.restart().then(() => performance.now())
    const isRestarting = () => Promise.race([restart.then(() => false), wait(requestEveryMs).then(() => true)])
    do requests.push({ sentMs: performance.now(), response: rows() })
    while (await isRestarting())
    const readyMs = await restart
    const last = requests.filter(({ sentMs }) => sentMs > readyMs - unheardMs + atOnceMs)
    expect(last.length).toBeGreaterThan(0)
    for (const { response } of last) expect(await response).toMatchObject({ status: 200 })
    for (const { response } of requests) await response
  })
})
