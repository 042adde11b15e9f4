import { LRUCache } from 'lru-cache'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import type { Counters, WindowCount } from '../counters.ts'
import { startHeartbeat } from '../heartbeat.ts'
import { clientOptions } from './connection.ts'
import { prefix } from './keys.ts'

/** Share of the remaining allowance that a process reserves at once. */
const blockShare = 1 / 1_000
/** Maximum keys with a reserved block; the rest of an evicted block stays unused. */
const maxBlocks = 10_000

/** Counts that this process reserved on the server and returns one by one. */
interface Block {
  returned: number
  last: number
  endsAtMs: number
}

/** Increments by several counts; returns the new count. */
type Take = (key: string, often: number, seconds: number) => Promise<WindowCount>

/**
 * Requests single counts near the limit and blocks of counts far from it. No count is returned twice, so no more calls are admitted than allowed.
 */
const countInBlocks = (take: Take): Counters['count'] => {
  const blocks = new LRUCache<string, Block>({ max: maxBlocks })

  const taken = async (key: string, often: number, seconds: number, allowed: number): Promise<WindowCount> => {
    const { count: last, endsInMs } = await take(key, often, seconds)
    const returned = last - often + 1
    // Calls during the request for a block are counted one by one and must not replace the block.
    const isNeeded = often > 1 || (blockAfter(last, allowed) > 1 && !blocks.has(key))
    if (isNeeded) blocks.set(key, { returned, last, endsAtMs: performance.now() + endsInMs })
    return { count: returned, endsInMs }
  }

  return (what, subject, seconds, allowed = 0) => {
    const key = `${what}:${subject}`
    const block = blocks.get(key)
    const leftMs = block === undefined ? 0 : block.endsAtMs - performance.now()
    if (block === undefined || leftMs <= 0) {
      blocks.delete(key)
      return taken(key, 1, seconds, allowed)
    }
    if (block.returned < block.last) {
      block.returned += 1
      return { count: block.returned, endsInMs: leftMs }
    }
    blocks.delete(key)
    return taken(key, blockAfter(block.last, allowed), seconds, allowed)
  }
}

const blockAfter = (count: number, allowed: number): number => Math.max(1, Math.floor((allowed - count) * blockShare))

/** Maximum wait for a hanging server, until the heartbeat notices it. */
const timeoutMs = 500
/** One timer per connection; a timer per command costs 10 % of a count. */
const { commandTimeout: _ofEachCommand, ...sharedOptions } = clientOptions
// Concurrent counts are pipelined into one write.
const options = { ...sharedOptions, socketTimeout: timeoutMs, enableAutoPipelining: true } as const

/** Opens counters on Redis with their own connection; `countAlone` replaces them while the server is unavailable. */
export const openRedisCounters = async (
  url: string,
  countAlone: Counters['count'],
  report?: (connected: boolean) => void,
): Promise<Counters> => {
  const { Redis } = await import('ioredis')
  const client = new Redis(url, options)
  const heartbeat = startHeartbeat(() => client.ping(), report)
  client.on('close', () => heartbeat.learn(false))
  client.on('ready', () => heartbeat.learn(true))
  // The heartbeat reports an outage.
  client.on('error', () => {})
  await client.connect().catch(() => heartbeat.learn(false))

  const limiter = new RateLimiterRedis({ storeClient: client, keyPrefix: `${prefix}:count`, points: 1, duration: 60 })
  // The library only counts; callers compare with the limit, and each count has its own window length.
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
