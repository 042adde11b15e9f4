import { expect, it } from 'vitest'
import { openMetrics } from '../telemetry/metrics.ts'
import { openOperations } from './operations.ts'

const open = (unmet: readonly string[]) =>
  openOperations({
    host: '127.0.0.1',
    port: 0,
    readiness: { unmet: () => [...unmet] },
    metrics: openMetrics({ version: '1.2.3', services: ['query'] }),
  })

it('is alive whether or not it is ready', async () => {
  await using operations = await open(['bus'])
  expect((await fetch(`${operations.url}/livez`)).status).toBe(200)
})

it('is ready when nothing is missing', async () => {
  await using operations = await open([])
  const answer = await fetch(`${operations.url}/readyz`)
  expect(answer.status).toBe(200)
  expect(await answer.json()).toEqual({ ready: true, unmet: [] })
})

it('names what it waits for while it is not ready', async () => {
  await using operations = await open(['bus', 'start'])
  const answer = await fetch(`${operations.url}/readyz`)
  expect(answer.status).toBe(503)
  expect(await answer.json()).toEqual({ ready: false, unmet: ['bus', 'start'] })
})

it('shows metrics in the Prometheus text format', async () => {
  await using operations = await open([])
  const answer = await fetch(`${operations.url}/metrics`)
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  expect(await answer.text()).toMatch(/^watchhouse_build_info\{.*version="1\.2\.3".*\} 1$/m)
})

it('answers nothing else', async () => {
  await using operations = await open([])
  expect((await fetch(`${operations.url}/api/v1/hosts`)).status).toBe(404)
  expect((await fetch(`${operations.url}/metrics`, { method: 'POST' })).status).toBe(405)
})

it('says which address is taken', async () => {
  await using operations = await open([])
  const port = Number(new URL(operations.url).port)
  const second = openOperations({
    host: '127.0.0.1',
    port,
    readiness: { unmet: () => [] },
    metrics: openMetrics({ version: '1', services: [] }),
  })
  await expect(second).rejects.toThrow(`OPERATIONS_PORT: port ${port} is taken by another process`)
})
