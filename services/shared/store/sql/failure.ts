import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ServiceError } from '#proto/errors.ts'
import type { StateDatabase } from './state-database.ts'

type DatabaseLocation = Pick<StateDatabase, 'kind' | 'url'>

/**
 * SQLSTATE prefixes of server failures: connection (08), resources (53), operator intervention (57), read-only (25006).
 */
const postgresFailures = /^(08|53|57|25006)/
const sqliteFailures =
  /^(SQLITE_(BUSY|LOCKED|IOERR|FULL|CANTOPEN|READONLY|PROTOCOL|NOTADB|CORRUPT)|HRANA_|SERVER_ERROR|CLIENT_CLOSED)/
/** Error codes of Node for a server certificate that it rejects. */
const certificateFailures = /^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_|ERR_TLS_)/
/** SQLSTATE codes of a serialization failure and a deadlock. */
const conflictCodes = new Set(['40001', '40P01'])

/**
 * Converts a failure of the server to `unavailable` with database, cause and remedy. Any other error is a defect and is
 * returned unchanged.
 */
export const toDatabaseFailure = (error: unknown, location: DatabaseLocation): unknown => {
  if (error instanceof ServiceError || !(error instanceof Error) || !isServerFailure(error)) return error
  return new ServiceError('unavailable', describeDatabaseError(error, location), { retryAfterMs: 1_000, cause: error })
}

/** Returns whether a transaction failed because of a concurrent one and can be retried. */
export const isTransactionConflict = (error: unknown): boolean =>
  error instanceof Error && conflictCodes.has(readErrorCode(error))

/** Returns whether an error reports a read-only SQLite connection; only a new connection can become writable. */
export const isReadOnlyError = (error: unknown): boolean =>
  error instanceof Error && readErrorCode(error) === 'SQLITE_READONLY'

/**
 * Returns the database, the reason and a remedy: `state database "/var/lib/state.db": no space left on its disk; …`.
 * Contains no credentials.
 */
export const describeDatabaseError = (error: unknown, location: DatabaseLocation): string =>
  `state database "${formatDatabaseName(location)}": ${describeCause(error, location)}`

/** Returns the path of a file, or the address of a server without credentials. */
export const formatDatabaseName = ({ url }: Pick<DatabaseLocation, 'url'>): string => {
  const path = parseFilePath(url)
  if (path !== undefined) return path
  const { host, pathname, searchParams } = new URL(url)
  // The parameter `host` contains the socket directory.
  return `${searchParams.get('host') ?? host}${pathname === '/' ? '' : pathname}`
}

/** Returns the path of a SQLite file; undefined for a server or a database in memory. */
export const parseFilePath = (url: string): string | undefined => {
  if (!url.startsWith('file:') || url.startsWith('file::memory:')) return undefined
  return url.startsWith('file://')
    ? fileURLToPath(new URL(url))
    : resolve(decodeURIComponent(url.slice('file:'.length).split('?', 1)[0] ?? ''))
}

const describeCause = (error: unknown, { url }: DatabaseLocation): string => {
  const code = error instanceof Error ? readErrorCode(error) : ''
  const message = error instanceof Error ? error.message : String(error)
  const path = parseFilePath(url)
  // For a file that cannot be opened, the driver reports the SQLite error number only in its message.
  if (path !== undefined && (code === 'SQLITE_CANTOPEN' || /local database .*: 14\b/.test(message)))
    return describeOpenFailure(path)
  const match = causes.find(([pattern]) => pattern.test(code))
  if (match) return match[1]
  if (/timeout/i.test(message)) return 'does not answer in time; check its load and the network'
  return `does not answer${code === '' ? '' : ` (${code})`}; check that it is running and that its address is correct`
}

const restoreRemedy = 'restore it from a backup, or move it away to begin with an empty one'

const causes: readonly (readonly [RegExp, string])[] = [
  [/^SQLITE_NOTADB/, `the file is not a SQLite database; ${restoreRemedy}`],
  [/^SQLITE_CORRUPT/, `the file is damaged or truncated; ${restoreRemedy}`],
  [/^SQLITE_FULL/, 'no space left on its disk; free space there or enlarge the volume'],
  [/^SQLITE_READONLY/, 'the file is read-only; make the file, its folder and its volume writable for this process'],
  [
    /^SQLITE_IOERR/,
    'the file cannot be read or written (disk I/O error); check the disk, its free space and file size limits',
  ],
  [/^SQLITE_(BUSY|LOCKED)/, 'the file is locked by another process; stop that process'],
  [/^ENOENT/, 'the file is gone; restore it, then restart'],
  [/^53100/, 'no space left on the disk of the server; free space there or enlarge the volume'],
  [/^53300/, 'the server has no free connections; raise its max_connections'],
  [/^53/, 'the server is out of resources; free memory or disk space there'],
  [/^25006/, 'the server is read-only, as a standby is; connect to the primary, or end default_transaction_read_only'],
  [/^57P0[123]/, 'the server is starting or stopping; wait for it'],
  [/^28/, 'the server rejects the user or the password; check both'],
  [/^3D000/, 'the server has no such database; create it or correct the name'],
  [/^ECONNREFUSED/, 'connection refused; check that the server is running and that its address is correct'],
  [/^ERR_TLS_CERT_ALTNAME/, 'the certificate of the server is for another name; connect to a name in it'],
  [/^CERT_HAS_EXPIRED/, 'the certificate of the server has expired; renew it'],
  [
    certificateFailures,
    'the certificate of the server is not signed by a trusted authority; add the authority to the file in NODE_EXTRA_CA_CERTS',
  ],
  [/^(ENOTFOUND|EAI_AGAIN)/, 'unknown host name; check the address and the DNS server'],
]

/** Returns why a file cannot be opened, with a remedy. Inspects the file and its folder. */
const describeOpenFailure = (path: string): string => {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats?.isDirectory()) return 'is a folder; name a file in it'
  if (stats) return 'permission denied; make the file readable and writable for the user of this process'
  const folder = statSync(dirname(path), { throwIfNoEntry: false })
  if (!folder) return `the folder "${dirname(path)}" does not exist; create it, or mount its volume`
  return 'the file cannot be created; make its folder writable for the user of this process, and free space there'
}

const isServerFailure = (error: Error): boolean => {
  const code = readErrorCode(error)
  if ([postgresFailures, sqliteFailures, certificateFailures].some((failures) => failures.test(code))) return true
  // Network errors have a system code. Some connection errors of pg and fetch have only a message.
  return (
    /^E[A-Z]{3,}/.test(code) ||
    /connection|timeout|fetch failed|pool after calling end/i.test(code === '' ? error.message : '')
  )
}

const readErrorCode = (error: Error): string => ('code' in error && typeof error.code === 'string' ? error.code : '')
