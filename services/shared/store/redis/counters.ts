import { RateLimiterRedis } from 'rate-limiter-flexible'
import type { Counters } from '../counters.ts'
import { startHeartbeat } from '../heartbeat.ts'
import { countInBlocks } from './blocks.ts'
import { clientOptions } from './connection.ts'
import { prefix } from './keys.ts'

/** Whoever is counted waits for it, so a server that hangs is waited for no longer than this, and only until the heartbeat notices. */
const silentForMs = 500
/** One timer for the connection instead of one for each command, which was a tenth of what counting costs. */
const { commandTimeout: _ofEachCommand, ...sharedOptions } = clientOptions
// Requests that come together are counted in one write to the socket.
const options = { ...sharedOptions, socketTimeout: silentForMs, enableAutoPipelining: true } as const

/** Counters of all processes on one Redis, on a connection of their own; `countAlone` stands in while the server is away. */
export const openRedisCounters = async (
  url: string,
  countAlone: Counters['count'],
  told?: (connected: boolean) => void,
): Promise<Counters> => {
  const { Redis } = await import('ioredis')
  const client = new Redis(url, options)
  const heartbeat = startHeartbeat(() => client.ping(), told)
  client.on('close', () => heartbeat.learn(false))
  client.on('ready', () => heartbeat.learn(true))
  // The heartbeat tells of an outage.
  client.on('error', () => {})
  await client.connect().catch(() => heartbeat.learn(false))

  const limiter = new RateLimiterRedis({ storeClient: client, keyPrefix: `${prefix}:count`, points: 1, duration: 60 })
  // It only counts: how much is too much is known where it is asked, and each count names its window.
  const countShared = countInBlocks(async (key, often, seconds) => {
    const { consumedPoints, msBeforeNext } = await limiter.penalty(key, often, { customDuration: seconds })
    return { count: consumedPoints, endsInMs: msBeforeNext }
  })
  return {
    count(what, key, seconds, allowed) {
      if (!heartbeat.connected) return countAlone(what, key, seconds)
      const counted = countShared(what, key, seconds, allowed)
      return counted instanceof Promise ? counted.catch(() => countAlone(what, key, seconds)) : counted
    },
    async [Symbol.asyncDispose]() {
      await heartbeat[Symbol.asyncDispose]()
      client.disconnect()
    },
  }
}
