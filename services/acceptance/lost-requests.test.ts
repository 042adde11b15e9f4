// @module-tag long
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Sandbox, startSandbox } from '../sandbox/start.ts'
import { describeWith, startNats, type TestServer } from '../testing/describe-with.ts'
import { fetchJson, retryUntil } from '../testing/fetch-json.ts'
import { type PausableHost, startPausableHost } from '../testing/pausable-host.ts'
import { type Product, startProduct } from '../testing/product.ts'
import { countRunningStatements } from '../testing/running-statements.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

/** Time until a lost request is sent again. Without state requests, it is the timeout of five seconds. */
const noticedWithinMs = 3_000
const inFlight = 8
const processes = 2

describeWith(['nats', 'redis', 'postgres'], 'requests that a failure interrupts', () => {
  let sandbox: Sandbox
  let nats: TestServer
  let host: PausableHost
  let product: Product

  beforeAll(async () => {
    sandbox = await startSandbox({ seed: false })
    nats = await startNats({ private: true })
    host = await startPausableHost(sandbox.url)
    product = await startProduct({
      topology: 'nats',
      queryProcesses: processes,
      hosts: [{ url: host.url, name: 'one' }],
      env: { NATS_URL: nats.url, SVC_QUERY_CACHE: 'off' },
    })
    await warmUp()
  })
  afterAll(async () => {
    await product?.[Symbol.asyncDispose]()
    await host?.[Symbol.asyncDispose]()
    await nats?.[Symbol.asyncDispose]()
    await sandbox?.[Symbol.asyncDispose]()
  })

  const requestAll = () =>
    Array.from({ length: inFlight }, (_, index) =>
      fetchJson(`${product.url}/api/v1/tables/settings?hostId=0&limit=${index + 1}`),
    )

  const countRunning = () => Promise.all(product.operationsUrls.slice(0, processes).map(countRunningStatements))

  /**
   * Lets each process read the capabilities of the host, which it does before its first statement. Repeats the requests
   * until the gateway knows both processes.
   */
  const warmUp = async () => {
    const hasEachRun = async () => {
      host.hold()
      const responses = Promise.all(requestAll())
      const counts = await retryUntil(countRunning, (all) => all.some((count) => count > 0))
      host.release()
      await responses
      return counts.every((count) => count > 0)
    }
    await retryUntil(hasEachRun, (hasRun) => hasRun)
  }

  /** Sends requests whose statements the host holds. */
  const startHeld = async () => {
    host.hold()
    const sent = requestAll()
    await retryUntil(
      async () => host.waiting('system.settings'),
      (waiting) => waiting === inFlight,
    )
    return { responses: Promise.all(sent) }
  }

  it('go to the other process soon after one is killed', async () => {
    const { responses } = await startHeld()
    await product.query.kill()
    // The host still holds the statements of the killed process, and then also those of the process that replaces it.
    await retryUntil(
      async () => host.waiting('system.settings'),
      (waiting) => waiting > inFlight,
      noticedWithinMs,
    )
    host.release()
    for (const { status } of await responses) expect(status).toBe(200)
    await product.query.restart()
    await warmUp()
  })

  it('are repeated when their responses were lost in a restart of NATS', async () => {
    const { responses } = await startHeld()
    await nats.kill()
    host.release()
    // The processes then have the rows, and cannot send them.
    await retryUntil(countRunning, (counts) => counts.every((count) => count === 0))
    await nats.restart()
    const restoredMs = performance.now()
    for (const { status } of await responses) expect(status).toBe(200)
    expect(performance.now() - restoredMs).toBeLessThan(noticedWithinMs)
  })
})
