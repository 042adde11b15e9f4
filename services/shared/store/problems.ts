import type { Environment } from '../config/environment.ts'
import { InvalidSettings, type SettingProblem, problemsOf } from '../config/setting.ts'
import { databaseSettings } from './config.ts'
import { type StateDatabase, stateDatabase } from './sql/state-database.ts'

/**
 * Returns problems of the store settings in combination; none if a database setting alone is invalid. `busIsShared`:
 * several processes share the bus.
 */
export const storeProblems = (env: Environment, busIsShared: boolean): readonly SettingProblem[] => {
  if (problemsOf(databaseSettings, env).length > 0) return []
  try {
    const database = stateDatabase(env)
    return busIsShared ? unshared(Boolean(env.REDIS_URL), database) : []
  } catch (error) {
    if (error instanceof InvalidSettings) return error.problems
    throw error
  }
}

/** Returns a problem if the state is in the memory or file of one process and would differ between processes. */
const unshared = (hasRedis: boolean, database: StateDatabase | undefined): readonly SettingProblem[] => {
  if (database?.url.startsWith('file:')) {
    const sentence =
      'a file: database cannot be shared by the processes of NATS_URL; name a PostgreSQL or libsql: server'
    return [{ name: 'SVC_STATE_DB_URL', sentence }]
  }
  if (hasRedis || database) return []
  const sentence = 'must be set beside NATS_URL, or SVC_STATE_DB_URL: processes that share a bus share their state'
  return [{ name: 'REDIS_URL', sentence }]
}
