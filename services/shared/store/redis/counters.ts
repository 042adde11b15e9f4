import { type RateLimiterAbstract, RateLimiterRedis } from 'rate-limiter-flexible'
import { type Counters, countIn, limiterOptions } from '../counters.ts'
import { startHeartbeat } from '../heartbeat.ts'
import { clientOptions } from './connection.ts'
import { prefix } from './slots.ts'

/** Whoever is counted waits for it, so a server that hangs is waited for no longer than this, and only until the heartbeat notices. */
const answerWithinMs = 250

/** Counters of all processes on one Redis, on a connection of their own; `alone` counts while the server is away. */
export const openRedisCounters = async (
  url: string,
  alone: RateLimiterAbstract,
  told?: (connected: boolean) => void,
): Promise<Counters> => {
  const { Redis } = await import('ioredis')
  const client = new Redis(url, { ...clientOptions, commandTimeout: answerWithinMs })
  const heartbeat = startHeartbeat(() => client.ping(), told)
  client.on('close', () => heartbeat.learn(false))
  client.on('ready', () => heartbeat.learn(true))
  // The heartbeat tells of an outage.
  client.on('error', () => {})
  await client.connect().catch(() => heartbeat.learn(false))

  const shared = new RateLimiterRedis({
    ...limiterOptions,
    storeClient: client,
    keyPrefix: `${prefix}:count`,
    insuranceLimiter: alone,
    rejectIfRedisNotReady: true,
  })
  const countShared = countIn(shared)
  const countAlone = countIn(alone)
  return {
    count: (key, seconds) => (heartbeat.connected ? countShared : countAlone)(key, seconds),
    async [Symbol.asyncDispose]() {
      await heartbeat[Symbol.asyncDispose]()
      client.disconnect()
    },
  }
}
