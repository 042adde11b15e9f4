import type { Logger } from 'pino'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { openStateDatabase } from '#shared/store/sql/state-database.ts'
import { openCollectionStores } from './collection-stores.ts'
import type { DispatcherStores } from './stores.ts'

interface OpenedStores extends AsyncDisposable {
  stores: DispatcherStores
  /** Undefined if no state database is configured. */
  database: Database | undefined
}

/** Opens the stores. Episode writes that fail while the database is unavailable are retried. */
export const openStores = async (env: Environment, log: Logger): Promise<OpenedStores> => {
  await using opening = new AsyncDisposableStack()
  const database = await openStateDatabase(env, log)
  if (database) opening.use(database)
  const { episodes, eventEpisodes, ...stores } = await openCollectionStores(database)
  const later = opening.use(openDeferredWrites(log))
  const opened = opening.move()
  return {
    database,
    stores: {
      ...stores,
      episodes: { ...episodes, write: later.retried(episodes.write) },
      eventEpisodes: { ...eventEpisodes, write: later.retried(eventEpisodes.write) },
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** Maximum number of deferred writes of this process; the oldest are dropped beyond it. */
const maxDeferredWrites = 1_000
const defaultRetryMs = 2_000

type Write<A extends readonly unknown[]> = (...written: A) => Promise<void>

/** Retries writes that failed because the database was unavailable, until disposed. */
interface DeferredWrites extends Disposable {
  /** Returns a write that is retried until it succeeds. It still rejects if the first attempt fails. */
  retried<A extends readonly unknown[]>(write: Write<A>): Write<A>
}

/** Opens a queue of deferred writes. A retried write may run late or twice, so it must not overwrite newer data. */
export const openDeferredWrites = (log: Logger, againMs = defaultRetryMs): DeferredWrites => {
  const waiting: (() => Promise<void>)[] = []
  const over = new AbortController()
  let dropped = 0
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
        log.error({ err: error }, 'deferred write failed')
      }
      written += 1
      waiting.shift()
    }
    timer = undefined
    if (waiting.length > 0) return tryLater()
    log.info({ writes: written, dropped }, 'deferred writes finished')
    dropped = 0
  }
  return {
    retried:
      (write) =>
      async (...written) => {
        try {
          await write(...written)
        } catch (error) {
          if (isUnavailable(error)) {
            waiting.push(() => write(...written))
            if (waiting.length > maxDeferredWrites) dropOldest()
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

  function dropOldest(): void {
    waiting.shift()
    dropped += 1
  }
}

const isUnavailable = (error: unknown): boolean =>
  error instanceof ServiceError && (error.code === 'unavailable' || error.code === 'busy')
