import { ServiceError } from '#proto/errors.ts'

/** PostgreSQL: connection (08), resources (53), operator intervention (57), read-only after a failover (25006). */
const passingPostgres = /^(08|53|57|25006)/
const passingSqlite = /^(SQLITE_(BUSY|LOCKED|IOERR|FULL|CANTOPEN|READONLY|PROTOCOL)|HRANA_|SERVER_ERROR|CLIENT_CLOSED)/
const lostRace = new Set(['40001', '40P01'])

/** What a failed query means to its caller: `unavailable` when the server is at fault, else the error itself, which is a defect. */
export const failureOf = (error: unknown): unknown => {
  if (error instanceof ServiceError || !(error instanceof Error) || !isServers(error)) return error
  return new ServiceError('unavailable', 'the state database does not answer', { retryAfterMs: 1_000, cause: error })
}

/** A transaction that lost against another and may simply be run again. */
export const isLostRace = (error: unknown): boolean => error instanceof Error && lostRace.has(codeOf(error))

const isServers = (error: Error): boolean => {
  const code = codeOf(error)
  if (passingPostgres.test(code) || passingSqlite.test(code)) return true
  // Errors of the network carry the system's code, those of pg and of fetch only their words.
  return (
    /^E[A-Z]{3,}/.test(code) ||
    /connection|timeout|fetch failed|pool after calling end/i.test(code === '' ? error.message : '')
  )
}

const codeOf = (error: Error): string => ('code' in error && typeof error.code === 'string' ? error.code : '')
