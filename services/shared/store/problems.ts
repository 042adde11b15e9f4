import type { Environment } from '../config/environment.ts'
import { InvalidSettings, type SettingProblem, findSettingProblems } from '../config/setting.ts'
import { databaseSettings } from './config.ts'
import { type StateDatabase, readStateDatabase } from './sql/state-database.ts'

/**
 * Returns the problems that only a combination of store settings causes; empty if a database setting itself is
 * invalid. `busIsShared`: several processes share the bus.
 */
export const findStoreProblems = (env: Environment, busIsShared: boolean): readonly SettingProblem[] => {
  if (findSettingProblems(databaseSettings, env).length > 0) return []
  try {
    const database = readStateDatabase(env)
    return busIsShared ? findUnsharedState(Boolean(env.REDIS_URL), database) : []
  } catch (error) {
    if (error instanceof InvalidSettings) return error.problems
    throw error
  }
}

/** Returns a problem if each process would have its own state, in memory or in a SQLite file. */
const findUnsharedState = (hasRedis: boolean, database: StateDatabase | undefined): readonly SettingProblem[] => {
  if (database?.url.startsWith('file:')) {
    const sentence =
      'a file: database cannot be shared by the processes of NATS_URL; use a PostgreSQL or libsql: server'
    return [{ name: 'SVC_STATE_DB_URL', sentence }]
  }
  if (hasRedis || database) return []
  const sentence = 'must be set when NATS_URL is, unless SVC_STATE_DB_URL is set: the processes must share their state'
  return [{ name: 'REDIS_URL', sentence }]
}
