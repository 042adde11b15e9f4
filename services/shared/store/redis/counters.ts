import { LRUCache } from 'lru-cache'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import type { Counters, WindowCount } from '../counters.ts'
import { startHeartbeat } from '../heartbeat.ts'
import { clientOptions } from './connection.ts'
import { prefix } from './keys.ts'

/** Of what a window still allows a process takes this part at once, so each of the others may find as much less. */
const blockShare = 1 / 1_000
/** Keys whose blocks are remembered; what is left of a forgotten one stays unused. */
const maxBlocks = 10_000

/** Counts that this process has reserved on the server, and returns one by one. */
interface Block {
  returned: number
  last: number
  endsAtMs: number
}

/** Counts several at once; returns the count afterwards. */
type Take = (key: string, often: number, seconds: number) => Promise<WindowCount>

/**
 * Requests each count from the server when few are left of the allowance, and many together when the limit is far away. No two callers
 * get the same count, so no more are admitted than allowed.
 */
const countInBlocks = (take: Take): Counters['count'] => {
  const blocks = new LRUCache<string, Block>({ max: maxBlocks })

  const taken = async (key: string, often: number, seconds: number, allowed: number): Promise<WindowCount> => {
    const { count: last, endsInMs } = await take(key, often, seconds)
    const returned = last - often + 1
    // Those who came while a block was on its way are counted one by one, and must not put theirs in its place.
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

/** Requests wait for their count, so a hanging server is awaited no longer than this, and only until the heartbeat notices. */
const timeoutMs = 500
/** One timer for the connection instead of one for each command, which was a tenth of what counting costs. */
const { commandTimeout: _ofEachCommand, ...sharedOptions } = clientOptions
// Requests that come together are counted in one write to the socket.
const options = { ...sharedOptions, socketTimeout: timeoutMs, enableAutoPipelining: true } as const

/** Counters of all processes on one Redis, on a connection of their own; `countAlone` replaces them while the server is unavailable. */
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
  // It only counts: the callers know the limit, and each count names its window.
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
