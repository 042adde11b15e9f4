import type { Logger } from 'pino'
import type { Environment } from '../config/environment.ts'
import { InvalidSettings, parseSettings } from '../config/setting.ts'
import { storeSettings } from './config.ts'
import type { StoreLimits } from './change.ts'
import { createStore } from './create-store.ts'
import type { StoreDriver } from './driver.ts'
import { openMemoryDriver } from './memory/driver.ts'
import { findStoreProblems } from './problems.ts'
import { createOutageReporter } from './heartbeat.ts'
import { readStateDatabase } from './sql/state-database.ts'
import type { Store } from './store.ts'

interface StoreOptions {
  env: Environment
  /**
   * Whether several processes share the bus. They must then share the state too, so memory and SQLite files are
   * rejected.
   */
  busIsShared: boolean
  log?: Logger
  limits?: Partial<StoreLimits>
}

/**
 * Opens the configured store: Redis, otherwise the state database, otherwise memory. Waits 10 s for a server. Throws
 * `InvalidSettings` if the server is not configured to persist state, and `unavailable` if it does not respond.
 */
export const openStore = async (options: StoreOptions): Promise<Store> =>
  createStore(await openDriver(options), options.limits)

const openDriver = async ({ env, busIsShared, log }: StoreOptions): Promise<StoreDriver> => {
  const report = createOutageReporter(log, 'state store')
  const { REDIS_URL } = parseSettings(storeSettings, env)
  const problems = findStoreProblems(env, busIsShared)
  if (problems.length > 0) throw new InvalidSettings(problems)
  // Each client library is imported only if used: together they cost about 200 ms and 40 MB.
  if (REDIS_URL) return (await import('./redis/driver.ts')).openRedisDriver(REDIS_URL.href, report)
  const database = readStateDatabase(env)
  if (database) return (await import('./sql/driver.ts')).openSqlDriver(database, report)
  return openMemoryDriver()
}
