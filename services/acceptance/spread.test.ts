// @module-tag long
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Sandbox, startSandbox } from '../sandbox/start.ts'
import { describeWith } from '../testing/describe-with.ts'
import { fetchJson, retryUntil } from '../testing/fetch-json.ts'
import { type PausableHost, startPausableHost } from '../testing/pausable-host.ts'
import { type Product, startProduct } from '../testing/product.ts'
import { countRunningStatements } from '../testing/running-statements.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const processes = 3
const statements = 24
/** A process gets at most 1.25 times its share. */
const maxPerProcess = Math.ceil((1.25 * statements) / processes)

describeWith(['nats', 'redis', 'postgres'], 'three query processes with one host', () => {
  let sandbox: Sandbox
  let host: PausableHost
  let product: Product

  beforeAll(async () => {
    sandbox = await startSandbox({ seed: false })
    host = await startPausableHost(sandbox.url)
    product = await startProduct({
      topology: 'nats',
      queryProcesses: processes,
      hosts: [{ url: host.url, name: 'one' }],
      env: { COLUMNDB_POOL_SIZE: String(maxPerProcess + 2) },
    })
    // Each process reads the capabilities and the tables of the host before its first statement.
    host.hold()
    const first = requestAll(100, 1)
    await retryUntil(countRunning, (counts) => counts.every((count) => count > 0))
    host.release()
    await first
  })
  afterAll(async () => {
    await product?.[Symbol.asyncDispose]()
    await host?.[Symbol.asyncDispose]()
    await sandbox?.[Symbol.asyncDispose]()
  })

  const request = (lastHours: number) =>
    fetchJson(`${product.url}/api/v1/charts/query-count?hostId=0&lastHours=${lastHours}`)
  /** Requests the chart for different times from `fromHours` on, because results are cached. */
  const requestAll = (fromHours: number, copies: number) =>
    Promise.all(Array.from({ length: statements * copies }, (_, index) => request(fromHours + (index % statements))))
  const countHeld = async () => host.waiting('query_kind')
  const countRunning = () => Promise.all(product.operationsUrls.slice(0, processes).map(countRunningStatements))

  it('share its statements, and run equal ones once', async () => {
    host.hold()
    const responses = requestAll(200, 2)
    await retryUntil(countHeld, (held) => held >= statements)
    const running = await retryUntil(
      countRunning,
      (counts) => counts.reduce((sum, count) => sum + count, 0) >= statements,
    )
    const held = await countHeld()
    host.release()
    for (const { status } of await responses) expect(status).toBe(200)
    expect(held).toBe(statements)
    // The probe of a process may run a further statement.
    expect(Math.max(...running)).toBeLessThanOrEqual(maxPerProcess + 1)
    expect(Math.min(...running)).toBeGreaterThan(0)
  })

  it('leave its statements to one process while they are few', async () => {
    host.hold()
    const responses = Promise.all(Array.from({ length: 4 }, (_, index) => request(300 + index)))
    await retryUntil(countHeld, (held) => held === 4)
    const running = await countRunning()
    host.release()
    for (const { status } of await responses) expect(status).toBe(200)
    expect(running.filter((count) => count >= 4)).toHaveLength(1)
  })
})
