import { z } from 'zod'
import { PostgresServer, type PostgresStatus } from '#proto/postgres-source.ts'
import { ServiceError } from '#proto/errors.ts'
import { reasonOf } from './failure.ts'
import { epochMs, limitsOf } from './sessions.ts'
import type { PostgresSource } from './source.ts'

const Server = PostgresServer.omit({ limited: true })

const serverSql = `SELECT current_setting('server_version') AS version, current_database() AS database,
  ${epochMs('pg_postmaster_start_time()')} AS "startedMs", pg_is_in_recovery() AS "isStandby"`

const notConfigured: PostgresStatus = {
  status: 'not-configured',
  message: 'Set SVC_POSTGRES_SOURCE_URL to watch a PostgreSQL server.',
  server: null,
}

/** Whether the source answers; a failure is an answer here. */
export const readStatus = async (source: PostgresSource): Promise<PostgresStatus> => {
  if (!source.isOffered) return notConfigured
  try {
    const server = await source.read(async (ask) => {
      const [facts] = z.tuple([Server]).parse(await ask(Server, serverSql))
      return { ...facts, limited: await limitsOf(ask) }
    })
    return { status: 'connected', message: 'The PostgreSQL source answers.', server }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return {
      status: reasonOf(error) === 'auth' ? 'auth' : 'unreachable',
      message: sentence(error.message),
      server: null,
    }
  }
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
