import type { Pool, PoolClient } from 'pg'
import type { z } from 'zod'
import { isCloudMode } from '#shared/config/shared-settings.ts'
import type { Environment } from '#shared/config/environment.ts'
import { optionalFlagSetting, parseSettings, urlSetting } from '#shared/config/setting.ts'
import { classifySourceError, isServerError, createSourceNotConfiguredError, createSourceError } from './failure.ts'

/** Runs one statement and parses its rows. Statements cast numbers to `float8`, because `bigint` arrives as text. */
export type RunQuery = <R extends z.ZodType>(row: R, sql: string, values?: readonly unknown[]) => Promise<z.output<R>[]>

/** The PostgreSQL source. All statements run in short read-only transactions. */
export interface PostgresSource extends AsyncDisposable {
  readonly isOffered: boolean
  /** Runs statements in one transaction. Throws `ServiceError` when the source does not respond. */
  read<T>(statements: (runQuery: RunQuery) => Promise<T>): Promise<T>
}

/** Maximum connections. It is small, because the other clients of the server share its connection limit. */
const maxConnections = 3
/** Maximum number of reads that wait for a connection. */
const maxWaitingReads = 30
const connectWithinMs = 3_000
const statementWithinMs = 5_000
const lockWithinMs = 500
/** The timeout of the client. It applies if the server does not enforce its own timeout. */
const responseTimeoutMs = statementWithinMs + 2_000
const idleMs = 30_000
/** The `application_name` of Watchhouse's sessions, which excludes them from the results. */
export const ownApplicationName = 'watchhouse source'
/** The comment at the beginning of each statement of Watchhouse. */
export const ownStatementPrefix = '/* watchhouse source */'

/** Starts a transaction with its limits. `SET LOCAL` keeps a connection pooler from leaking them to other clients. */
const begin = [
  'BEGIN READ ONLY',
  `SET LOCAL statement_timeout = ${statementWithinMs}`,
  `SET LOCAL lock_timeout = ${lockWithinMs}`,
  `SET LOCAL idle_in_transaction_session_timeout = ${responseTimeoutMs}`,
  `SET LOCAL search_path = pg_catalog`,
]
  .map((statement) => `${ownStatementPrefix} ${statement}`)
  .join(';')
const end = `${ownStatementPrefix} ROLLBACK`

/** Opens the source. It connects on first use and reconnects when the setting changes. */
export const openPostgresSource = ({ env }: { env: Environment }): PostgresSource => {
  let opened: { url: string; pool: Promise<Pool> } | undefined

  const close = async () => {
    const closing = opened
    opened = undefined
    await (await closing?.pool)?.end()
  }
  const poolNow = (): Promise<Pool> => {
    const url = sourceUrl(env)
    if (opened && opened.url !== url) void close()
    if (url === undefined) throw createSourceNotConfiguredError()
    opened ??= { url, pool: openPool(url) }
    return opened.pool
  }

  return {
    get isOffered() {
      return sourceUrl(env) !== undefined
    },
    read: async (statements) => {
      const pool = await poolNow()
      if (pool.waitingCount >= maxWaitingReads) throw createSourceError('busy')
      const client = await connect(pool)
      return runInTransaction(client, statements)
    },
    [Symbol.asyncDispose]: close,
  }
}

const openPool = async (url: string): Promise<Pool> => {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: connectWithinMs,
    idleTimeoutMillis: idleMs,
    query_timeout: responseTimeoutMs,
    application_name: ownApplicationName,
  })
  // The pool replaces a closed connection on next use. Its current statement reports the error.
  pool.on('error', () => {})
  return pool
}

const connect = async (pool: Pool): Promise<PoolClient> => {
  try {
    return await pool.connect()
  } catch (error) {
    throw createSourceError(classifySourceError(error), error)
  }
}

const runInTransaction = async <T>(client: PoolClient, statements: (runQuery: RunQuery) => Promise<T>): Promise<T> => {
  let isUsable = true
  const send = async (sql: string, values?: readonly unknown[]): Promise<unknown[]> => {
    try {
      return (await client.query(sql, values && [...values])).rows
    } catch (error) {
      isUsable = isServerError(error)
      throw createSourceError(classifySourceError(error), error)
    }
  }
  const fail = () => {
    isUsable = false
  }
  client.on('error', fail)
  try {
    await send(begin)
    return await statements(async (row, sql, values) =>
      row.array().parse(await send(`${ownStatementPrefix} ${sql}`, values)),
    )
  } finally {
    if (isUsable) await send(end).catch(fail)
    client.off('error', fail)
    // A broken connection is closed and replaced.
    client.release(!isUsable)
  }
}

export const postgresSourceSettings = {
  SVC_POSTGRES_SOURCE_URL: urlSetting(
    'URL of a PostgreSQL server to monitor, with a user that can read its statistics (GRANT pg_monitor). Do not use the state database.',
    { protocols: ['postgres', 'postgresql'], audience: 'secret' },
  ),
  SVC_FEATURE_POSTGRES_SOURCE: {
    ...optionalFlagSetting(
      'Whether the PostgreSQL source of SVC_POSTGRES_SOURCE_URL is shown in the web UI and available to the agent.',
    ),
    fallback: 'true, in cloud mode false',
  },
} as const

/** Returns the source URL, or undefined when none is configured or the feature is off. */
const sourceUrl = (env: Environment): string | undefined => {
  const { SVC_POSTGRES_SOURCE_URL, SVC_FEATURE_POSTGRES_SOURCE } = parseSettings(postgresSourceSettings, env)
  return (SVC_FEATURE_POSTGRES_SOURCE ?? !isCloudMode(env)) ? SVC_POSTGRES_SOURCE_URL?.href : undefined
}
