import { LRUCache } from 'lru-cache'
import { limitEntries } from '../limit-entries.ts'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import type { Counters, WindowCount } from '../counters.ts'
import { startHeartbeat } from '../heartbeat.ts'
import { redisClientOptions } from './connection.ts'
import { redisPrefix } from './keys.ts'

/** Share of the remaining limit that a process reserves at a time. */
const blockShare = 1 / 1_000
/** Maximum number of reserved blocks; the rest of an evicted block stays unused. */
const maxBlocks = 10_000

/** A range of counts that this process reserved on the server and returns one by one. */
interface Block {
  returned: number
  last: number
  endsAtMs: number
}

/** A function that adds `increment` to the count of a key on the server and returns the new count. */
type AddCounts = (key: string, increment: number, seconds: number) => Promise<WindowCount>

/**
 * Returns a counting function. While the count is far below the limit, it reserves blocks of counts; near the limit,
 * it reserves single counts. No count is returned twice, so no more calls are admitted than allowed.
 */
const countInBlocks = (addCounts: AddCounts): Counters['count'] => {
  const blocks = new LRUCache<string, Block>(limitEntries(maxBlocks))

  const reserve = async (key: string, increment: number, seconds: number, allowed: number): Promise<WindowCount> => {
    const { count: last, endsInMs } = await addCounts(key, increment, seconds)
    const returned = last - increment + 1
    // Calls during the request for a block are counted one by one and must not replace the block.
    const startsBlock = increment > 1 || (computeBlockSize(last, allowed) > 1 && !blocks.has(key))
    if (startsBlock) blocks.set(key, { returned, last, endsAtMs: performance.now() + endsInMs })
    return { count: returned, endsInMs }
  }

  return (what, subject, seconds, allowed = 0) => {
    const key = `${what}:${subject}`
    const block = blocks.get(key)
    const leftMs = block === undefined ? 0 : block.endsAtMs - performance.now()
    if (block === undefined || leftMs <= 0) {
      blocks.delete(key)
      return reserve(key, 1, seconds, allowed)
    }
    if (block.returned < block.last) {
      block.returned += 1
      return { count: block.returned, endsInMs: leftMs }
    }
    blocks.delete(key)
    return reserve(key, computeBlockSize(block.last, allowed), seconds, allowed)
  }
}

/** Returns how many counts to reserve after `count`; at least one. */
const computeBlockSize = (count: number, allowed: number): number =>
  Math.max(1, Math.floor((allowed - count) * blockShare))

/** Maximum wait for a response; applies to an unresponsive server until the heartbeat detects it. */
const timeoutMs = 500
/** Options without `commandTimeout`: its timer per command would add 10 % to the cost of a count. */
const { commandTimeout: _perCommand, ...sharedOptions } = redisClientOptions
// Concurrent counts are pipelined into one write.
const options = { ...sharedOptions, socketTimeout: timeoutMs, enableAutoPipelining: true } as const

/** Opens counters in Redis on their own connection. While the server is unavailable, `countLocally` counts instead. */
export const openRedisCounters = async (
  url: string,
  countLocally: Counters['count'],
  report?: (connected: boolean) => void,
): Promise<Counters> => {
  const { Redis } = await import('ioredis')
  const client = new Redis(url, options)
  const heartbeat = startHeartbeat(() => client.ping(), report)
  client.on('close', () => heartbeat.learn(false))
  client.on('ready', () => heartbeat.learn(true))
  // Errors are ignored, because the heartbeat reports an outage.
  client.on('error', () => {})
  await client.connect().catch(() => heartbeat.learn(false))

  const limiter = new RateLimiterRedis({
    storeClient: client,
    keyPrefix: `${redisPrefix}:count`,
    points: 1,
    duration: 60,
  })
  // Ignores the limit and the window length of the library: callers check the limit, and each call sets the length.
  const countShared = countInBlocks(async (key, increment, seconds) => {
    const { consumedPoints, msBeforeNext } = await limiter.penalty(key, increment, { customDuration: seconds })
    return { count: consumedPoints, endsInMs: msBeforeNext }
  })
  return {
    count(what, key, seconds, allowed) {
      if (!heartbeat.connected) return countLocally(what, key, seconds)
      const counted = countShared(what, key, seconds, allowed)
      return counted instanceof Promise ? counted.catch(() => countLocally(what, key, seconds)) : counted
    },
    async [Symbol.asyncDispose]() {
      await heartbeat[Symbol.asyncDispose]()
      client.disconnect()
    },
  }
}
