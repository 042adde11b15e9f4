import type { Logger } from 'pino'
import type { Environment } from '#shared/config/environment.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { openStateDatabase } from '#shared/store/sql/open-state-database.ts'
import { memoryStores } from './memory.ts'
import type { Stores } from './stores.ts'

interface Opened {
  stores: Stores
  /** Released by whoever opened it; undefined where none is configured. */
  database: Database | undefined
}

/** Stores in the state database where there is one, else in memory. */
export const openStores = async (env: Environment, log: Logger): Promise<Opened> => {
  const database = await openStateDatabase(env, log)
  try {
    if (!database) return { database, stores: memoryStores() }
    const { sqlStores } = await import('./sql.ts')
    return { database, stores: await sqlStores(database) }
  } catch (error) {
    await database?.[Symbol.asyncDispose]()
    throw error
  }
}
