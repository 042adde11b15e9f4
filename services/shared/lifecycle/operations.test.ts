import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { openMetrics } from '../telemetry/metrics.ts'
import { startOperationsServer } from './operations.ts'

const open = (unmet: readonly string[], problems: Record<string, string> = {}, hungAfterMs = 10_000) =>
  startOperationsServer({
    host: '127.0.0.1',
    port: 0,
    readiness: { unmet: () => [...unmet], problems: () => problems },
    metrics: openMetrics({ version: '1.2.3', services: ['query'] }),
    hungAfterMs,
  })

/**
 * Blocks the event loop of this process and requests both endpoints from a worker thread. The loop is released when
 * both have responded; `whileBusy` is false if they do not respond within 30 seconds.
 */
const fetchWhileBusy = async (url: string): Promise<unknown> => {
  const released = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(
    `const { parentPort, workerData: { url, released } } = require('node:worker_threads')
    parentPort.once('message', async () => {
      await new Promise((resolve) => setTimeout(resolve, 500))
      const [livez, readyz] = await Promise.all(['/livez', '/readyz'].map((path) => fetch(url + path)))
      parentPort.postMessage({ livez: livez.status, readyz: await readyz.json() })
      Atomics.store(released, 0, 1)
      Atomics.notify(released, 0)
    })
    parentPort.postMessage('ready')`,
    { eval: true, workerData: { url, released } },
  )
  await once(worker, 'message')
  worker.postMessage('fetch')
  const whileBusy = Atomics.wait(released, 0, 0, 30_000) !== 'timed-out'
  const [answers] = await once(worker, 'message')
  await worker.terminate()
  return { ...answers, whileBusy }
}

it('responds while the process is busy', async () => {
  await using operations = await open([])
  expect(await fetchWhileBusy(operations.url)).toEqual({
    livez: 200,
    readyz: { ready: true, unmet: [] },
    whileBusy: true,
  })
})

it('reports a hung process while it has been busy for too long, and a live one afterwards', async () => {
  await using operations = await open([], {}, 250)
  expect(await fetchWhileBusy(operations.url)).toEqual({
    livez: 503,
    readyz: { ready: false, unmet: ['event loop'] },
    whileBusy: true,
  })
  await expect.poll(async () => (await fetch(`${operations.url}/livez`)).status).toBe(200)
})

it('reports soon that a condition is no longer met', async () => {
  const unmet: string[] = []
  await using operations = await startOperationsServer({
    host: '127.0.0.1',
    port: 0,
    readiness: { unmet: () => [...unmet], problems: () => ({}) },
    metrics: openMetrics({ version: '1', services: [] }),
  })
  const status = async () => (await fetch(`${operations.url}/readyz`)).status
  expect(await status()).toBe(200)
  unmet.push('bus')
  await expect.poll(status).toBe(503)
})

it('is alive whether or not it is ready', async () => {
  await using operations = await open(['bus'])
  expect((await fetch(`${operations.url}/livez`)).status).toBe(200)
})

it('is ready if all conditions are met', async () => {
  await using operations = await open([])
  const answer = await fetch(`${operations.url}/readyz`)
  expect(answer.status).toBe(200)
  expect(await answer.json()).toEqual({ ready: true, unmet: [] })
})

it('lists unmet conditions while it is not ready', async () => {
  await using operations = await open(['bus', 'start'])
  const answer = await fetch(`${operations.url}/readyz`)
  expect(answer.status).toBe(503)
  expect(await answer.json()).toEqual({ ready: false, unmet: ['bus', 'start'] })
})

it('lists problems, even while the process is ready', async () => {
  const problems = { store: 'state database "/data/state.db": no space left on its disk; free space there' }
  await using operations = await open([], problems)
  const answer = await fetch(`${operations.url}/readyz`)
  expect(answer.status).toBe(200)
  expect(await answer.json()).toEqual({ ready: true, unmet: [], problems })
})

it('shows metrics in the Prometheus text format', async () => {
  await using operations = await open([])
  const answer = await fetch(`${operations.url}/metrics`)
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  expect(await answer.text()).toMatch(/^watchhouse_build_info\{.*version="1\.2\.3".*\} 1$/m)
})

it('serves no other paths', async () => {
  await using operations = await open([])
  expect((await fetch(`${operations.url}/api/v1/hosts`)).status).toBe(404)
  expect((await fetch(`${operations.url}/metrics`, { method: 'POST' })).status).toBe(405)
})

it('reports which port is in use', async () => {
  await using operations = await open([])
  const port = Number(new URL(operations.url).port)
  const second = startOperationsServer({
    host: '127.0.0.1',
    port,
    readiness: { unmet: () => [], problems: () => ({}) },
    metrics: openMetrics({ version: '1', services: [] }),
  })
  await expect(second).rejects.toThrow(`OPERATIONS_PORT: port ${port} is already in use by another process`)
})
