import type { Logger } from 'pino'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { Environment } from '../config/environment.ts'
import { read } from '../config/setting.ts'
import { storeSettings } from './config.ts'
import { type Counters, countIn, limiterOptions } from './counters.ts'

/** Counters on the Redis that the environment names, else in memory. While Redis is away each process counts for itself. */
export const openCounters = async (env: Environment, log?: Logger): Promise<Counters> => {
  const { REDIS_URL } = read(storeSettings, env)
  // A key costs some 500 bytes until its window ends, so what can be counted within a window bounds them.
  const alone = new RateLimiterMemory(limiterOptions)
  if (!REDIS_URL) return { count: countIn(alone), [Symbol.asyncDispose]: async () => {} }
  const told = (connected: boolean) =>
    connected ? log?.info('counters are shared again') : log?.warn('Redis is away: every process counts for itself')
  return (await import('./redis/counters.ts')).openRedisCounters(REDIS_URL.href, alone, told)
}
