import type { Pool, PoolClient } from 'pg'
import type { z } from 'zod'
import { inCloudMode } from '#shared/config/shared-settings.ts'
import type { Environment } from '#shared/config/environment.ts'
import { maybeFlag, read, url } from '#shared/config/setting.ts'
import { failureOf, isSaidByServer, noSource, sourceFailure } from './failure.ts'

/** Rows of one statement, parsed. Numbers are asked for as `float8`: whatever may be larger comes as text. */
export type Ask = <R extends z.ZodType>(row: R, sql: string, values?: readonly unknown[]) => Promise<z.output<R>[]>

/** The PostgreSQL source, as far as it may be asked: everything in transactions that only read, of which nothing lasts long. */
export interface PostgresSource extends AsyncDisposable {
  readonly isOffered: boolean
  /** Runs these statements in one transaction; throws `ServiceError` for a source that does not answer. */
  read<T>(statements: (ask: Ask) => Promise<T>): Promise<T>
}

/** Few, since they are taken from the clients of the server. */
const connectionsLimit = 3
/** Reads that may wait for one of them. */
const waitingLimit = 30
const connectWithinMs = 3_000
const statementWithinMs = 5_000
const lockWithinMs = 500
/** When even the server's own limit is not heard of. */
const answerWithinMs = statementWithinMs + 2_000
const idleMs = 30_000
/** By which our sessions and statements are told from those of others. */
export const ownName = 'watchhouse source'
/** Begins each of our statements. */
export const ownMark = '/* watchhouse source */'

/** Set for the transaction alone, so that a connection pooler between cannot hand it to others. */
const begin = [
  'BEGIN READ ONLY',
  `SET LOCAL statement_timeout = ${statementWithinMs}`,
  `SET LOCAL lock_timeout = ${lockWithinMs}`,
  `SET LOCAL idle_in_transaction_session_timeout = ${answerWithinMs}`,
  `SET LOCAL search_path = pg_catalog`,
]
  .map((statement) => `${ownMark} ${statement}`)
  .join(';')
const end = `${ownMark} ROLLBACK`

/** Connects when first asked, anew when the setting has changed, and to nothing where there is no source. */
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
    if (url === undefined) throw noSource()
    opened ??= { url, pool: openPool(url) }
    return opened.pool
  }

  return {
    get isOffered() {
      return sourceUrl(env) !== undefined
    },
    read: async (statements) => {
      const pool = await poolNow()
      if (pool.waitingCount >= waitingLimit) throw sourceFailure('busy')
      const client = await connect(pool)
      return within(client, statements)
    },
    [Symbol.asyncDispose]: close,
  }
}

const openPool = async (url: string): Promise<Pool> => {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({
    connectionString: url,
    max: connectionsLimit,
    connectionTimeoutMillis: connectWithinMs,
    idleTimeoutMillis: idleMs,
    query_timeout: answerWithinMs,
    application_name: ownName,
  })
  // A connection that ends is replaced when the next one is asked for; whoever used it hears of it from its statement.
  pool.on('error', () => {})
  return pool
}

const connect = async (pool: Pool): Promise<PoolClient> => {
  try {
    return await pool.connect()
  } catch (error) {
    throw sourceFailure(failureOf(error), error)
  }
}

const within = async <T>(client: PoolClient, statements: (ask: Ask) => Promise<T>): Promise<T> => {
  let isSound = true
  const send = async (sql: string, values?: readonly unknown[]): Promise<unknown[]> => {
    try {
      return (await client.query(sql, values && [...values])).rows
    } catch (error) {
      isSound = isSaidByServer(error)
      throw sourceFailure(failureOf(error), error)
    }
  }
  const fail = () => {
    isSound = false
  }
  client.on('error', fail)
  try {
    await send(begin)
    return await statements(async (row, sql, values) => row.array().parse(await send(`${ownMark} ${sql}`, values)))
  } finally {
    if (isSound) await send(end).catch(fail)
    client.off('error', fail)
    // What is not sound any more is closed and replaced.
    client.release(!isSound)
  }
}

/** The second kind of monitored system. */
export const postgresSourceSettings = {
  SVC_POSTGRES_SOURCE_URL: url(
    'PostgreSQL server that is watched beside the hosts, with a user that may read its statistics (GRANT pg_monitor); never the state database of the product.',
    { protocols: ['postgres', 'postgresql'], audience: 'secret' },
  ),
  SVC_FEATURE_POSTGRES_SOURCE: {
    ...maybeFlag('Shows the PostgreSQL source of SVC_POSTGRES_SOURCE_URL, as pages and to the agent.'),
    fallback: 'true, in cloud mode false',
  },
} as const

/** The address of the source; undefined where there is none, or it is not to be shown. */
const sourceUrl = (env: Environment): string | undefined => {
  const { SVC_POSTGRES_SOURCE_URL, SVC_FEATURE_POSTGRES_SOURCE } = read(postgresSourceSettings, env)
  return (SVC_FEATURE_POSTGRES_SOURCE ?? !inCloudMode(env)) ? SVC_POSTGRES_SOURCE_URL?.href : undefined
}
