import type { Logger } from 'pino'
import type { Environment } from '../config/environment.ts'
import { InvalidSettings, read } from '../config/setting.ts'
import { storeSettings } from './config.ts'
import type { StoreLimits } from './change.ts'
import { createStore } from './create-store.ts'
import type { Driver } from './driver.ts'
import { openMemoryDriver } from './memory/driver.ts'
import { storeProblems } from './problems.ts'
import { reportTo } from './report-to.ts'
import { stateDatabase } from './sql/state-database.ts'
import type { Store } from './store.ts'

interface StoreOptions {
  env: Environment
  /** Several processes hear one another, so state in one's memory or file would be a different state in each. */
  busIsShared: boolean
  log?: Logger
  limits?: Partial<StoreLimits>
}

/**
 * The store that the environment names: Redis, else SQL where there is a state database, else memory. Waits 10 s for a server;
 * throws `InvalidSettings` for one that is not set up to keep state and `unavailable` for one that does not answer.
 */
export const openStore = async (options: StoreOptions): Promise<Store> =>
  createStore(await openDriver(options), options.limits)

const openDriver = async ({ env, busIsShared, log }: StoreOptions): Promise<Driver> => {
  const report = reportTo(log, 'state store')
  const { REDIS_URL } = read(storeSettings, env)
  const problems = storeProblems(env, busIsShared)
  if (problems.length > 0) throw new InvalidSettings(problems)
  // Each server's library is loaded only where it is used: together they cost some 200 ms and 40 MB.
  if (REDIS_URL) return (await import('./redis/driver.ts')).openRedisDriver(REDIS_URL.href, report)
  const database = stateDatabase(env)
  if (database) return (await import('./sql/driver.ts')).openSqlDriver(database, report)
  return openMemoryDriver()
}
