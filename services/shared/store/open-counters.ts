import type { Logger } from 'pino'
import type { Environment } from '../config/environment.ts'
import { read } from '../config/setting.ts'
import { storeSettings } from './config.ts'
import type { Counters } from './counters.ts'
import { countInMemory } from './memory/counters.ts'

/** Counters on the Redis that the environment names, else in memory. While Redis is away each process counts for itself. */
export const openCounters = async (env: Environment, log?: Logger): Promise<Counters> => {
  const { REDIS_URL } = read(storeSettings, env)
  const countAlone = countInMemory()
  if (!REDIS_URL) return { count: countAlone, [Symbol.asyncDispose]: async () => {} }
  const told = (connected: boolean) =>
    connected ? log?.info('counters are shared again') : log?.warn('Redis is away: every process counts for itself')
  return (await import('./redis/counters.ts')).openRedisCounters(REDIS_URL.href, countAlone, told)
}
