import type { Logger } from 'pino'
import type { Environment } from '#shared/config/environment.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { openStateDatabase } from '#shared/store/sql/open-state-database.ts'
import { memoryStores } from './memory.ts'
import type { Stores } from './stores.ts'
import { openWriteLater } from './write-later.ts'

interface Opened extends AsyncDisposable {
  stores: Stores
  /** Undefined where none is configured. */
  database: Database | undefined
}

/** Stores in the state database where there is one, else in memory. What became of episodes while it was unavailable is written later. */
export const openStores = async (env: Environment, log: Logger): Promise<Opened> => {
  await using opening = new AsyncDisposableStack()
  const database = await openStateDatabase(env, log)
  if (!database) return { database, stores: memoryStores(), [Symbol.asyncDispose]: async () => {} }
  opening.use(database)
  const { sqlStores } = await import('./sql.ts')
  const { episodes, eventEpisodes, ...stores } = await sqlStores(database)
  const later = opening.use(openWriteLater(log))
  const opened = opening.move()
  return {
    database,
    stores: {
      ...stores,
      episodes: { ...episodes, write: later.made(episodes.write) },
      eventEpisodes: { ...eventEpisodes, write: later.made(eventEpisodes.write) },
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
