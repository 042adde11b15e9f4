import { setTimeout as wait } from 'node:timers/promises'
import type { Pool } from 'pg'
import { Kysely, PostgresDialect } from 'kysely'
import { ServiceError } from '#proto/errors.ts'
import type { DatabaseServer } from './context.ts'
import { describeDatabaseError } from './failure.ts'
import type { StateDatabase } from './state-database.ts'

/** Maximum number of concurrent statements per process; probes and listeners have additional connections. */
export const maxConnections = 10
const connectWithinMs = 2_000
const queryWithinMs = 5_000
const migrationWithinMs = 600_000
/** How long a connection for migrations may stay idle before it is closed. */
const migrationIdleMs = 1_000
const startWithinMs = 10_000
const retryPauseMs = 200

/** Opens a pool of PostgreSQL connections. Waits up to 10 s for the first response, then throws `unavailable`. */
export const openPostgres = async (where: StateDatabase): Promise<DatabaseServer> => {
  const { url } = where
  const { default: pg } = await import('pg')
  const options = {
    connectionString: url,
    connectionTimeoutMillis: connectWithinMs,
    ...createTimeoutOptions(queryWithinMs),
    application_name: 'watchhouse',
    keepAlive: true,
  }
  const pool = ignoreIdleErrors(new pg.Pool({ ...options, max: maxConnections }))
  await waitForResponse(pool, where)
  const migrationOptions = {
    ...options,
    ...createTimeoutOptions(migrationWithinMs),
    max: maxConnections,
    idleTimeoutMillis: migrationIdleMs,
  }
  const migrationPool = ignoreIdleErrors(new pg.Pool(migrationOptions))
  // Uses a separate pool: behind queued queries, a probe would time out and report a healthy server as unavailable.
  const probePool = ignoreIdleErrors(new pg.Pool({ ...options, max: 1 }))
  return {
    kysely: createKysely(pool),
    migrating: createKysely(migrationPool),
    probe: () => probePool.query('select 1'),
    listen: (channel, listener) => listen(() => new pg.Client(options), channel, listener),
    async [Symbol.asyncDispose]() {
      await Promise.all([pool.end(), migrationPool.end(), probePool.end()])
    },
  }
}

const createTimeoutOptions = (limitMs: number) => ({ query_timeout: limitMs, statement_timeout: limitMs })

const createKysely = (pool: Pool) => new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })

/** Ignores errors of idle connections: the pool replaces them, and a running query gets its own error. */
const ignoreIdleErrors = (pool: Pool): Pool => {
  pool.on('error', () => {})
  pool.on('connect', (client) => void client.on('error', () => {}))
  return pool
}

const waitForResponse = async (pool: Pool, where: StateDatabase): Promise<void> => {
  const until = performance.now() + startWithinMs
  for (;;) {
    try {
      return void (await pool.query('select 1'))
    } catch (error) {
      const refused = error instanceof Error && 'code' in error && /^(28|3D)/.test(String(error.code))
      if (!refused && performance.now() < until) {
        await wait(retryPauseMs)
        continue
      }
      await pool.end()
      throw new ServiceError('unavailable', describeDatabaseError(error, where), { cause: error })
    }
  }
}

const listenAgainMs = 1_000

/** The part of the PostgreSQL client used for LISTEN. */
interface Listener {
  connect(): Promise<unknown>
  query(text: string): Promise<unknown>
  end(): Promise<void>
  on(event: 'notification' | 'end' | 'error', listener: () => void): unknown
}

/** Listens on a separate connection, which is reopened after a loss. */
const listen = async (open: () => Listener, channel: string, listener: () => void): Promise<AsyncDisposable> => {
  const stop = new AbortController()
  const running = keepListening(open, channel, listener, stop.signal)
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}

const keepListening = async (
  open: () => Listener,
  channel: string,
  listener: () => void,
  signal: AbortSignal,
): Promise<void> => {
  while (!signal.aborted) {
    const client = open()
    const { promise: closed, resolve: end } = Promise.withResolvers<void>()
    client.on('notification', listener)
    client.on('error', end)
    client.on('end', end)
    signal.addEventListener('abort', () => end(), { once: true })
    try {
      await client.connect()
      await client.query(`listen ${channel}`)
      listener()
      await closed
    } catch {
      // Errors are ignored, because the heartbeat reports an outage and listeners poll during it.
    } finally {
      await client.end().catch(() => {})
    }
    await wait(listenAgainMs, undefined, { signal, ref: false }).catch(() => {})
  }
}
