import type { ServerResponse } from 'node:http'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import type { LoopMeasurement, LoopPressure } from '#shared/admission/loop-pressure.ts'
import { noopTracers } from '#shared/telemetry/tracing.ts'
import { createCall, openTestService } from '../testing/test-service.ts'
import { sendResultRows, startHttpStub } from '../testing/stub-host.ts'
import { maxReportStatements, maxSweepStatements, openHostQueues } from './host-queues.ts'

const probeComment = '"probe"'

/** Starts a host that holds its responses until `release`, and records the settings of every statement. */
const startHeldHost = async () => {
  const held: { settings: Record<string, string>; response: ServerResponse }[] = []
  const host = await startHttpStub(({ url }, response) => {
    const settings = Object.fromEntries(url.searchParams)
    if (settings.log_comment?.includes(probeComment) ?? true) response.end()
    else held.push({ settings, response })
  })
  const release = (): void => held.splice(0).forEach(({ response }) => sendResultRows(response, [['1']]))
  return { host, held, release }
}

it.each([
  ['sweep', maxSweepStatements],
  ['report', maxReportStatements],
] as const)('limits concurrent statements of a %s, which yield on the host', async (priority, most) => {
  const { host, held, release } = await startHeldHost()
  await using _host = host
  await using parts = await openTestService({ COLUMNDB_HOST: host.url, COLUMNDB_NAME: 'box', COLUMNDB_POOL_SIZE: '10' })
  const box = parts.hosts.get('box')
  const run = (sql: string, call = createCall({ priority })) => parts.client.run(box, { what: 'test', sql }, call)
  const results = Array.from({ length: most + 2 }, (_, index) => run(`SELECT ${index}`))

  await expect.poll(() => held.length, { timeout: 5_000 }).toBe(most)
  const person = run('SELECT 0', createCall())
  await expect.poll(() => held.length, { timeout: 5_000 }).toBe(most + 1)
  const yielding = { max_threads: '2', priority: '10', max_execution_time: '10', readonly: '1' }
  for (const { settings } of held.slice(0, -1)) expect(settings).toMatchObject(yielding)
  expect(held.at(-1)?.settings).not.toHaveProperty('priority')
  expect(held.at(-1)?.settings).toMatchObject({ max_execution_time: '60' })

  release()
  await expect.poll(() => held.length, { timeout: 5_000 }).toBe(2)
  release()
  expect(await Promise.all([...results, person])).toHaveLength(most + 3)
})

const quiet = { log: pino({ level: 'silent' }), tracer: noopTracers.tracer('query') }

it('limits the statements of an overloaded process to as few as keep it busy', async () => {
  const fewest = 4
  let measure: (measured: LoopMeasurement) => void = () => {}
  const pressure: LoopPressure = {
    isOverloaded: true,
    onMeasured: (listener) => (measure = listener),
    relieved: () => Promise.resolve(),
    [Symbol.dispose]: () => {},
  }
  const names = ['one', 'two', 'three']
  const addresses = names.map(() => 'http://127.0.0.1:1')
  await using parts = await openTestService({ COLUMNDB_HOST: addresses.join(), COLUMNDB_NAME: names.join() })
  const queues = openHostQueues({ ...quiet, metrics: new Registry() }, pressure)
  measure({ isPressed: true, busyShare: 1 })
  const running: (() => void)[] = []
  const enter = async (index: number) => {
    const host = parts.hosts.get(names[index % names.length] ?? '')
    const request = { priority: 'person', size: 10, signal: new AbortController().signal, timeoutMs: 60_000 } as const
    running.push(await queues.enter(host, request))
  }
  const all = Array.from({ length: 9 }, (_, index) => enter(index))
  await expect.poll(() => running.length).toBe(fewest)
  running.shift()?.()
  await expect.poll(() => running.length).toBe(fewest)
  measure({ isPressed: false, busyShare: 0.5 })
  await expect.poll(() => running.length).toBe(fewest + 1)
  await expect
    .poll(async () => {
      running.shift()?.()
      return running.length
    })
    .toBe(0)
  await Promise.all(all)
})

it('pauses background statements but not those of users while the process is overloaded', async () => {
  const relief = Promise.withResolvers<void>()
  const pressure: LoopPressure = {
    isOverloaded: true,
    onMeasured: () => {},
    relieved: () => relief.promise,
    [Symbol.dispose]: () => {},
  }
  await using parts = await openTestService({ COLUMNDB_HOST: 'http://127.0.0.1:1', COLUMNDB_NAME: 'box' })
  const queues = openHostQueues({ ...quiet, metrics: new Registry() }, pressure)
  const order: string[] = []
  const enter = async (priority: 'person' | 'sweep' | 'report') => {
    const request = { priority, size: 10, signal: new AbortController().signal, timeoutMs: 60_000 }
    const leave = await queues.enter(parts.hosts.get('box'), request)
    order.push(priority)
    leave()
  }
  const all = [enter('report'), enter('sweep'), enter('person')]
  await all[2]
  expect(order).toEqual(['person'])
  relief.resolve()
  await Promise.all(all)
  expect(order).toEqual(['person', 'report', 'sweep'])
})
