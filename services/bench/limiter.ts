import { Redis } from 'ioredis'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import { startRedis } from '../testing/describe-with.ts'
import { createRateLimits } from '../gateway/limits/limits.ts'
import { systemClock } from '../shared/time/clock.ts'
import { resolveFileVariables } from '../shared/config/environment.ts'
import { openCounters } from '#shared/store/counters.ts'
import type { Benchmark, Comparison } from './benchmark.ts'

const repetitions = 9
const unreachableLimit = 1_000_000_000
const windowSeconds = 60
const minRatio = 0.9
/** Client addresses that the requests cycle through. */
const addresses = Array.from({ length: 1_000 }, (_, index) => `192.0.${index >> 8}.${index & 255}`)

/** Counts a request of the client with this address. */
type Count = (address: string) => unknown

/**
 * Measures the rate limiter of the product, which reads its setting per request. The reference is the rate limiter
 * library alone, on the same store.
 */
export const limiterCost: Benchmark = {
  name: 'limiter',
  run: async () => [await inMemory(), await onRedis()],
}

const inMemory = async (): Promise<Comparison> => {
  await using counters = await openCounters({})
  const library = new RateLimiterMemory({ points: unreachableLimit, duration: windowSeconds })
  const limits = createRateLimits(productEnvironment(), systemClock, counters)
  return compare('in memory, one after another', {
    ours: (address) => limits.countAddress('data', address),
    reference: (address) => library.consume(address),
    counts: 200_000,
    atOnce: 1,
  })
}

const onRedis = async (): Promise<Comparison> => {
  // The default sync policy of Redis. A disk sync per request would hide the cost of counting.
  await using server = await startRedis({ settings: { appendfsync: 'everysec' } })
  await using counters = await openCounters({ REDIS_URL: server.url })
  const client = new Redis(server.url)
  const library = new RateLimiterRedis({ storeClient: client, points: unreachableLimit, duration: windowSeconds })
  const limits = createRateLimits(productEnvironment(), systemClock, counters)
  try {
    return await compare('on Redis, 32 at once', {
      ours: (address) => limits.countAddress('data', address),
      reference: (address) => library.consume(address),
      counts: 20_000,
      atOnce: 32,
    })
  } finally {
    client.disconnect()
  }
}

/** Returns the environment like `main.ts`, with the rate limit set. */
const productEnvironment = () =>
  resolveFileVariables({ ...process.env, RATE_LIMIT_API_PER_MIN: String(unreachableLimit) })

interface Compared {
  ours: Count
  reference: Count
  counts: number
  atOnce: number
}

const compare = async (name: string, { ours, reference, counts, atOnce }: Compared): Promise<Comparison> => {
  const oursPerSecond: number[] = []
  const referencePerSecond: number[] = []
  for (const count of [ours, reference]) await perSecond(count, counts, atOnce)
  for (let repetition = 0; repetition < repetitions; repetition++) {
    referencePerSecond.push(await perSecond(reference, counts, atOnce))
    oursPerSecond.push(await perSecond(ours, counts, atOnce))
  }
  const unit = 'counts per second of CPU time'
  return { name, unit, ours: oursPerSecond, reference: referencePerSecond, bar: { atLeast: minRatio } }
}

/** Returns the counts per second of CPU time. Unlike wall-clock time, CPU time does not depend on other load. */
const perSecond = async (count: Count, counts: number, atOnce: number): Promise<number> => {
  const before = process.cpuUsage()
  let next = 0
  const caller = async () => {
    while (next < counts) await count(addresses[next++ % addresses.length] ?? '')
  }
  await Promise.all(Array.from({ length: atOnce }, caller))
  const { user, system } = process.cpuUsage(before)
  return (counts / (user + system)) * 1_000_000
}
