import type { Logger } from 'pino'
import type { Environment } from '../../config/environment.ts'
import type { Database } from './connection.ts'
import { reportTo } from '../report-to.ts'
import { stateDatabase } from './state-database.ts'

/** The state database for the tables that a service owns; undefined where none is configured. */
export const openStateDatabase = async (env: Environment, log: Logger): Promise<Database | undefined> => {
  const where = stateDatabase(env)
  if (where === undefined) return undefined
  // Loaded only where there is one, as the drivers are large.
  const { openDatabase } = await import('./connection.ts')
  return openDatabase(where, reportTo(log, 'state database'))
}
