import type { CallContext } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { QueryResult } from '../clickhouse/client.ts'
import { findClickhouseErrorCode } from '../clickhouse/failure.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'

/** A statement that changes a host. */
interface Write {
  what: string
  sql: string
  /** The GRANT that the configured user needs. */
  grant: string
  maxSeconds?: number
}

const accessDenied = 497
const readonlyUser = 164
/** The error code for users and roles from configuration files, which queries cannot change. */
const storageIsReadonly = 495
const noWritableStorage = 514

/** Runs a statement that changes a host. Throws `forbidden` with the required grant if the user lacks the privilege. */
export const runWrite = async (
  { client }: Pick<QueryHandlerDeps, 'client'>,
  host: MonitoredHost,
  { what, sql, grant, maxSeconds }: Write,
  context: Pick<CallContext, 'deadline' | 'signal' | 'priority' | 'trace'>,
): Promise<QueryResult> => {
  try {
    return await client.run(host, { what, sql, writes: true, ...(maxSeconds && { maxSeconds }) }, context)
  } catch (error) {
    const code = findClickhouseErrorCode(error)
    if (code === storageIsReadonly || code === noWritableStorage) throw createFileStorageError(host, error)
    if (code !== accessDenied && code !== readonlyUser) throw error
    const sentence =
      code === readonlyUser
        ? `the configured user of host ${host.name} is read-only; configure a user with write access`
        : `the configured user of host ${host.name} lacks a required privilege: ${grant}`
    throw new ServiceError('forbidden', sentence, { details: { host: host.name, grant }, cause: error })
  }
}

const createFileStorageError = (host: MonitoredHost, cause: unknown): ServiceError =>
  new ServiceError(
    'conflict',
    `host ${host.name} stores this in configuration files; configure a local_directory or replicated storage in user_directories to change it with queries`,
    { details: { host: host.name }, cause },
  )

/** A table of Watchhouse, with the statements that create it and insert rows. */
interface OwnTableInsert {
  /** The full name, `database.table`. */
  table: string
  creating: Write
  inserting: Write
}

const noSuchTable = 60

/** Inserts rows into a table of Watchhouse. Creates the table when it does not exist. */
export const insertIntoOwnTable = async (
  { client }: Pick<QueryHandlerDeps, 'client'>,
  host: MonitoredHost,
  { table, creating, inserting }: OwnTableInsert,
  call: CallContext,
): Promise<void> => {
  const create = async () => {
    await runWrite({ client }, host, creating, call)
    client.forget(host)
  }
  if ((await client.presence(host, table, call)) === 'missing') await create()
  try {
    await runWrite({ client }, host, inserting, call)
  } catch (error) {
    // The table was dropped after the check above.
    if (findClickhouseErrorCode(error) !== noSuchTable) throw error
    await create()
    await runWrite({ client }, host, inserting, call)
  }
}
