import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { pino } from 'pino'
import { ServiceError } from '#proto/errors.ts'
import { openTracing } from '../telemetry/tracing.ts'
import { createCallObserver } from './call-observer.ts'

const labels = { service: 'query', method: 'chart', caller: 'gateway' } as const

const outcomesOf = async (error: unknown): Promise<string[]> => {
  const registry = new Registry()
  const log = pino({ level: 'silent' })
  await using tracing = await openTracing({
    exporterUrl: undefined,
    instance: 'a',
    version: '1',
    log,
    registry,
  })
  const observer = createCallObserver({ log, metrics: registry, tracer: tracing.tracer('gateway') })
  observer.outgoing(labels, { trace: undefined, signal: new AbortController().signal }).end(error)
  return [...(await registry.metrics()).matchAll(/_count\{.*outcome="([\w-]+)"/g)].map(([, outcome = '']) => outcome)
}

it.each([
  [
    'no process responds',
    new ServiceError('unavailable', 'no process', { details: { running: false } }),
    'unavailable',
  ],
  ['a host is unreachable', new ServiceError('unavailable', 'host', { details: { host: 'one' } }), 'host-unavailable'],
  [
    'the caller is wrong about a host',
    new ServiceError('not-found', 'host', { details: { host: 'one' } }),
    'not-found',
  ],
  ['a defect', new Error('defect'), 'internal'],
  ['no error', undefined, 'ok'],
])('records the outcome of a call: %s', async (_case, error, outcome) => {
  expect(await outcomesOf(error)).toEqual([outcome])
})
