import type { Logger } from 'pino'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { openStateDatabase } from '#shared/store/sql/open-state-database.ts'
import { openStoresIn } from './collected.ts'
import type { Stores } from './stores.ts'

interface Opened extends AsyncDisposable {
  stores: Stores
  /** Undefined where none is configured. */
  database: Database | undefined
}

/** Stores in the state database where there is one, else in memory. What became of episodes while it was unavailable is written later. */
export const openStores = async (env: Environment, log: Logger): Promise<Opened> => {
  await using opening = new AsyncDisposableStack()
  const database = await openStateDatabase(env, log)
  if (database) opening.use(database)
  const { episodes, eventEpisodes, ...stores } = await openStoresIn(database)
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

/** Writes of this process that the database has yet to take; the oldest are given up beyond. */
const maxWaiting = 1_000
const usuallyAgainMs = 2_000

type Write<A extends readonly unknown[]> = (...written: A) => Promise<void>

/** Makes up for writes that a database could not take, until disposed. */
interface WriteLater extends Disposable {
  /** The same write, made again until the database takes it. It still rejects when the first try fails. */
  made<A extends readonly unknown[]>(write: Write<A>): Write<A>
}

/** For writes that may come late and twice: what was written since stays as it is. */
export const openWriteLater = (log: Logger, againMs = usuallyAgainMs): WriteLater => {
  const waiting: (() => Promise<void>)[] = []
  const over = new AbortController()
  let givenUp = 0
  let timer: NodeJS.Timeout | undefined
  const tryLater = () => {
    if (!over.signal.aborted) timer ??= setTimeout(() => void writeWaiting(), againMs).unref()
  }
  const writeWaiting = async () => {
    let written = 0
    for (let next = waiting[0]; next && !over.signal.aborted; next = waiting[0]) {
      try {
        await next()
      } catch (error) {
        if (isUnavailable(error)) break
        log.error({ err: error }, 'a late write failed')
      }
      written += 1
      waiting.shift()
    }
    timer = undefined
    if (waiting.length > 0) return tryLater()
    log.info({ writes: written, givenUp }, 'the history is complete again')
    givenUp = 0
  }
  return {
    made:
      (write) =>
      async (...written) => {
        try {
          await write(...written)
        } catch (error) {
          if (isUnavailable(error)) {
            waiting.push(() => write(...written))
            if (waiting.length > maxWaiting) giveUpOldest()
            tryLater()
          }
          throw error
        }
      },
    [Symbol.dispose]() {
      over.abort()
      clearTimeout(timer)
    },
  }

  function giveUpOldest(): void {
    waiting.shift()
    givenUp += 1
  }
}

const isUnavailable = (error: unknown): boolean =>
  error instanceof ServiceError && (error.code === 'unavailable' || error.code === 'busy')
