import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import type { LoopMeasurement, LoopPressure } from '#shared/admission/loop-pressure.ts'
import { noopTracers } from '#shared/telemetry/tracing.ts'
import { ErrorResponse } from '#proto/http/response.ts'
import { limitConcurrency } from './capacity.ts'

/**
 * Starts an application whose responses to `/api/v1/held` wait for `release`; the test sets the load of the event
 * loop.
 */
const openApplication = async (holdMs?: number) => {
  const listeners: ((measured: LoopMeasurement) => void)[] = []
  const held: (() => void)[] = []
  let isOverloaded = false
  const pressure: LoopPressure = {
    get isOverloaded() {
      return isOverloaded
    },
    onMeasured: (listener) => void listeners.push(listener),
    relieved: async () => {},
    [Symbol.dispose]: () => {},
  }
  const telemetry = { log: pino({ level: 'silent' }), metrics: new Registry(), tracer: noopTracers.tracer('gateway') }
  const admitting = limitConcurrency(
    (request, response) => {
      if (request.url === '/api/v1/held') held.push(() => response.end('{}'))
      else response.end('{}')
    },
    { env: { SVC_CORS_ORIGINS: otherSite }, telemetry, requestTimeoutMs: 20_000 },
    pressure,
    [['Cache-Control', 'no-store']],
    holdMs,
  )
  const server = createServer(admitting).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // The address of a listening TCP server is never a string or null.
  const { port } = server.address() as AddressInfo
  return {
    held,
    measure: (measured: LoopMeasurement & { isOverloaded: boolean }) => {
      isOverloaded = measured.isOverloaded
      for (const listener of listeners) listener(measured)
    },
    get: (path: string, headers: Record<string, string> = {}) => fetch(`http://127.0.0.1:${port}${path}`, { headers }),
    figure: async (name = 'waiting') =>
      new RegExp(`^watchhouse_http_${name} (\\d+)$`, 'm').exec(await telemetry.metrics.metrics())?.[1],
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const pressed = { isPressed: true, busyShare: 1, isOverloaded: true }
const minSlots = 4
const otherSite = 'https://tools.example.com'

it('admits every request while the loop is not overloaded', async () => {
  await using application = await openApplication()
  application.measure({ ...pressed, isOverloaded: false })
  const answers = Array.from({ length: 20 }, () => application.get('/api/v1/held'))
  await expect.poll(() => application.held.length).toBe(20)
  for (const release of application.held) release()
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
})

it('queues requests while the loop is overloaded, except health checks', async () => {
  await using application = await openApplication()
  application.measure(pressed)
  const answers = Array.from({ length: minSlots + 1 }, () => application.get('/api/v1/held'))
  await expect.poll(() => application.figure()).toBe('1')
  expect(application.held).toHaveLength(minSlots)
  for (const path of ['/api/health', '/api/healthz', '/index.html']) {
    expect((await application.get(path)).status).toBe(200)
  }
  application.held.shift()?.()
  await expect.poll(() => application.figure()).toBe('0')
  await expect.poll(() => application.held.length).toBe(minSlots)
  for (const release of application.held.splice(0)) release()
  expect((await Promise.all(answers)).every(({ status }) => status === 200)).toBe(true)
})

it('does not count long requests such as event streams', async () => {
  const holdMs = 200
  await using application = await openApplication(holdMs)
  const long = Array.from({ length: minSlots * 3 }, () => application.get('/api/v1/held'))
  await expect.poll(() => application.held.length).toBe(minSlots * 3)
  await new Promise((resolve) => setTimeout(resolve, 2 * holdMs))
  application.measure(pressed)
  const brief = application.get('/api/v1/held')
  await expect.poll(() => application.held.length).toBe(minSlots * 3 + 1)
  for (const release of application.held) release()
  expect((await Promise.all([...long, brief])).every(({ status }) => status === 200)).toBe(true)
})

it('rejects requests that would wait too long, with Retry-After', async () => {
  await using application = await openApplication()
  application.measure(pressed)
  const first = application.get('/api/v1/held')
  await expect.poll(() => application.held.length).toBe(1)
  // If each slot is held for two seconds, only a few requests get one within the maximum wait of five seconds.
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  application.held.shift()?.()
  await first
  const answers = Array.from({ length: 30 }, () => application.get('/api/v1/held', { 'x-request-id': 'of-the-proxy' }))
  const refused = await Promise.race(answers)
  expect(refused.status).toBe(503)
  expect(refused.headers.get('cache-control')).toBe('no-store')
  expect(refused.headers.get('x-request-id')).toBe('of-the-proxy')
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(5)
  expect(ErrorResponse.parse(await refused.json())).toMatchObject({
    error: { type: 'busy' },
    metadata: { requestId: 'of-the-proxy' },
  })
  const elsewhere = await application.get('/api/v1/held', { origin: otherSite })
  expect([elsewhere.status, elsewhere.headers.get('access-control-allow-origin')]).toEqual([503, otherSite])
  expect(Number(await application.figure('refused_total'))).toBeGreaterThan(1)
  application.measure({ isPressed: false, busyShare: 0.1, isOverloaded: false })
  const releasing = setInterval(() => application.held.splice(0).forEach((release) => release()), 5)
  const statuses = (await Promise.all(answers)).map(({ status }) => status)
  clearInterval(releasing)
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(minSlots)
})

it('lowers concurrency while the loop is busy, and raises it once it idles while requests wait', async () => {
  await using application = await openApplication()
  const first = Array.from({ length: 20 }, () => application.get('/api/v1/held'))
  await expect.poll(() => application.held.length).toBe(20)
  application.measure({ isPressed: true, busyShare: 1, isOverloaded: true })
  // There are sixteen slots at first; each measurement of a busy loop removes a few, although nothing is late.
  for (let ticks = 0; ticks < 20; ticks++) application.measure({ isPressed: false, busyShare: 1, isOverloaded: true })
  const more = Array.from({ length: 20 }, () => application.get('/api/v1/held'))
  await expect.poll(() => application.figure()).toBe('20')
  for (const release of application.held.splice(0)) release()
  await Promise.all(first)
  await expect.poll(() => application.held.length).toBe(minSlots)
  application.measure({ isPressed: false, busyShare: 0.5, isOverloaded: true })
  await expect.poll(() => application.held.length).toBe(minSlots + 1)
  application.measure({ isPressed: false, busyShare: 0.95, isOverloaded: true })
  expect(application.held).toHaveLength(minSlots + 1)
  const releasing = setInterval(() => application.held.splice(0).forEach((release) => release()), 5)
  expect((await Promise.all(more)).every(({ status }) => status === 200)).toBe(true)
  clearInterval(releasing)
})
