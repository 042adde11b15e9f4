import { randomUUID } from 'node:crypto'
import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Client } from '@libsql/client'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '../../config/environment.ts'
import { findDataDirectory } from '../data-directory.ts'
import { parseFilePath } from './failure.ts'
import { migrationsTable } from './migrate.ts'
import { readStateDatabase } from './state-database.ts'

const ownerOnly = 0o600

/** Returns the path of the SQLite file with the state. Throws `invalid` if the state is kept elsewhere. */
const findStateFile = (env: Environment): string => {
  const directory = findDataDirectory(env)
  if (directory) return directory.database
  const database = readStateDatabase(env)
  const path = database && parseFilePath(database.url)
  if (path !== undefined) return path
  throw new ServiceError(
    'invalid',
    database
      ? 'the state database is a server; back it up with the tools of that server, such as pg_dump'
      : 'no state is kept in a file; set SVC_DATA_DIRECTORY, or SVC_STATE_DB_URL to a file: URL',
  )
}

/**
 * Writes a consistent copy of the state to a new file, also while the product runs. Returns a message for the operator.
 * Throws `ServiceError` without a state, or if the file exists.
 */
export const backUpState = async (env: Environment, target: string): Promise<string> => {
  const source = findStateFile(env)
  if (!existsSync(source)) throw new ServiceError('not-found', `"${source}" does not exist; start the product once`)
  if (existsSync(target)) throw new ServiceError('conflict', `"${target}" exists already; choose another file`)
  const partial = `${target}.${randomUUID().slice(0, 8)}`
  try {
    using client = await openFile(source)
    await client.execute({ sql: 'VACUUM INTO ?', args: [resolve(partial)] })
    chmodSync(partial, ownerOnly)
    renameSync(partial, target)
  } catch (error) {
    throw toFailure(error, `cannot write "${target}"`)
  } finally {
    rmSync(partial, { force: true })
  }
  const key = findDataDirectory(env)?.key
  const keyNote = key && existsSync(key) ? `; also keep a copy of "${key}", which decrypts the secrets in it` : ''
  return `backup of "${source}" written to "${target}" (${statSync(target).size} bytes)${keyNote}`
}

/**
 * Replaces the state by a backup. The former state is kept next to it. Returns a message for the operator. Throws
 * `ServiceError` if the file is no backup, or while the product runs.
 */
export const restoreState = async (env: Environment, backup: string): Promise<string> => {
  const target = findStateFile(env)
  await requireBackup(backup)
  try {
    mkdirSync(dirname(target), { recursive: true })
    const former = existsSync(target) ? `${target}.before-restore-${formatChangeTime(target)}` : undefined
    if (former !== undefined) await requireUnused(target)
    const partial = `${target}.${randomUUID().slice(0, 8)}`
    copyFileSync(backup, partial)
    chmodSync(partial, ownerOnly)
    if (former !== undefined) renameSync(target, former)
    renameSync(partial, target)
    return `"${target}" restored from "${backup}"${former === undefined ? '' : `; the former state is in "${former}"`}`
  } catch (error) {
    throw toFailure(error, `cannot restore "${target}"`)
  }
}

const formatChangeTime = (path: string): string => statSync(path).mtime.toISOString().replaceAll(':', '-')

const requireBackup = async (path: string): Promise<void> => {
  if (!existsSync(path)) throw new ServiceError('not-found', `"${path}" does not exist`)
  try {
    using client = await openFile(path)
    const { rows: problems } = await client.execute('pragma quick_check')
    const { rows: tables } = await client.execute({
      sql: `select 1 from sqlite_schema where type = 'table' and name like ?`,
      args: [`%${migrationsTable}`],
    })
    if (problems[0]?.[0] === 'ok' && tables.length > 0) return
  } catch (error) {
    throw new ServiceError('invalid', `"${path}" is not a backup of the state`, { cause: error })
  }
  throw new ServiceError('invalid', `"${path}" is damaged, or not a backup of the state`)
}

/** Throws `conflict` while a process has the database open. Otherwise moves its write-ahead log into the file. */
const requireUnused = async (path: string): Promise<void> => {
  // SQLite can leave the mode of the write-ahead log only while no other connection is open.
  using client = await openFile(path)
  const mode = await client.execute('pragma journal_mode = delete').then(
    ({ rows }) => rows[0]?.[0],
    () => undefined,
  )
  if (mode !== 'delete') throw new ServiceError('conflict', `"${path}" is in use; stop the product, then restore`)
}

const openFile = async (path: string): Promise<Client & Disposable> => {
  const { createClient } = await import('@libsql/client')
  const client = createClient({ url: pathToFileURL(resolve(path)).href })
  return Object.assign(client, { [Symbol.dispose]: () => client.close() })
}

const toFailure = (error: unknown, what: string): ServiceError =>
  error instanceof ServiceError
    ? error
    : new ServiceError('unavailable', `${what}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      })
