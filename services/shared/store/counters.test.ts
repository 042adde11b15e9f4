import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestServer, describeWith, startRedis } from '../../testing/describe-with.ts'
import type { Environment } from '../config/environment.ts'
import { type Counters, openCounters } from './counters.ts'

const times = (counters: Counters, key: string, often: number, seconds = 60, allowed?: number) =>
  Promise.all(Array.from({ length: often }, async () => (await counters.count('test', key, seconds, allowed)).count))

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

const countsWindows = (environment: () => Environment) => {
  it('counts each key separately, from one', async () => {
    await using counters = await openCounters(environment())
    expect(await times(counters, 'own', 20)).toEqual(upTo(20))
    expect(await times(counters, 'other', 1)).toEqual([1])
  })

  it('starts a window with its first count, and a new one after its end', async () => {
    await using counters = await openCounters(environment())
    const { endsInMs } = await counters.count('test', 'short', 1)
    expect(endsInMs).toBeGreaterThan(0)
    expect(endsInMs).toBeLessThanOrEqual(1_000)
    await expect.poll(async () => (await counters.count('test', 'short', 1)).count, { timeout: 5_000 }).toBe(1)
  })
}

describe('counters in memory', () => {
  countsWindows(() => ({}))

  it('drop the oldest windows when there are too many', async () => {
    await using counters = await openCounters({})
    await counters.count('test', 'first', 60)
    for (let key = 0; key < 99_999; key += 1) await counters.count('test', `flood ${key}`, 60)
    expect((await counters.count('test', 'first', 60)).count).toBe(2)
    await counters.count('test', 'one too many', 60)
    expect((await counters.count('test', 'first', 60)).count).toBe(1)
    expect((await counters.count('test', 'flood 99998', 60)).count).toBe(2)
  })
})

describe('counters on a server that accepts connections and does not respond', () => {
  it('start, and count without it', async () => {
    await using silent = createServer((socket) => socket.resume()).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    // The address of a listening TCP server is never a string or null.
    const { port } = silent.address() as AddressInfo
    await using counters = await openCounters({ REDIS_URL: `redis://127.0.0.1:${port}` })
    expect(await times(counters, 'alone', 2)).toEqual([1, 2])
  })
})

describeWith(['redis'], 'counters on Redis', () => {
  let server: TestServer
  const environment = () => ({ REDIS_URL: server.url })
  beforeAll(async () => {
    server = await startRedis({ private: true })
  })
  afterAll(async () => server.stop())

  countsWindows(environment)

  it('are shared by all processes, and no count is returned twice', async () => {
    await using one = await openCounters(environment())
    await using other = await openCounters(environment())
    const counts = await Promise.all([times(one, 'shared', 50), times(other, 'shared', 50)])
    expect(counts.flat().toSorted((a, b) => a - b)).toEqual(upTo(100))
  })

  it('are reserved in blocks for a high limit, without duplicates and with few losses', async () => {
    await using one = await openCounters(environment())
    await using other = await openCounters(environment())
    const allowed = 4_000
    const returned: number[] = []
    // Calls run partly concurrently and partly sequentially, until the limit is used up.
    while (returned.filter((count) => count > allowed).length < 100) {
      const counts = await Promise.all([times(one, 'blocks', 30, 60, allowed), times(other, 'blocks', 10, 60, allowed)])
      returned.push(...counts.flat(), ...(await times(one, 'blocks', 1, 60, allowed)))
    }
    expect(new Set(returned).size).toBe(returned.length)
    expect(Math.min(...returned)).toBe(1)
    const within = returned.filter((count) => count <= allowed).length
    expect(within).toBeGreaterThanOrEqual(allowed - 2 * (allowed / 1_000))
    expect(within).toBeLessThanOrEqual(allowed)
  })

  it('are requested one by one for a low limit', async () => {
    await using one = await openCounters(environment())
    await using other = await openCounters(environment())
    const counts: number[] = []
    for (let often = 0; often < 10; often += 1) {
      counts.push(...(await times(one, 'few', 1, 60, 100)), ...(await times(other, 'few', 1, 60, 100)))
    }
    expect(counts).toEqual(upTo(20))
  })

  it('continue without their server, and are shared again when it is back', async () => {
    await using one = await openCounters(environment())
    await using other = await openCounters(environment())
    await one.count('test', 'kept', 60)
    await server.kill()
    expect(await times(one, 'kept', 3)).toEqual(upTo(3))
    expect(await times(other, 'kept', 1)).toEqual([1])
    await server.restart()
    const counted = async () =>
      (await one.count('test', 'again', 60)).count > 0 && (await other.count('test', 'again', 60)).count > 1
    await expect.poll(counted, { timeout: 10_000 }).toBe(true)
    expect((await one.count('test', 'kept', 60)).count).toBeGreaterThan(1)
  })

  it('start without their server', async () => {
    await server.kill()
    await using counters = await openCounters(environment())
    expect(await times(counters, 'alone', 2)).toEqual([1, 2])
    await server.restart()
  })
})
