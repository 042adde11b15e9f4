import { randomBytes } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Logger } from 'pino'
import type { Environment } from '../config/environment.ts'
import { InvalidSettings, parseSettings } from '../config/setting.ts'
import { minKeyLength } from '../seal/config.ts'
import { storeSettings } from './config.ts'
import { formatDatabaseName } from './sql/failure.ts'
import { readStateDatabase } from './sql/state-database.ts'

const databaseName = 'state.db'
const keyName = 'encryption.key'
const keyBytes = 32
const ownerOnly = 0o600

/** Files that a single process keeps in its data directory. */
export interface DataDirectory {
  path: string
  database: string
  databaseUrl: string
  /** The file of the encryption key, which is generated unless a setting contains the key. */
  key: string
}

/**
 * Returns the data directory if the state is kept there: one is set, and no other store, database or process is
 * configured.
 */
export const findDataDirectory = (env: Environment): DataDirectory | undefined => {
  const { SVC_DATA_DIRECTORY: path, REDIS_URL } = parseSettings(storeSettings, env)
  if (path === undefined || REDIS_URL || env.NATS_URL) return undefined
  const directory = describeDirectory(resolve(path))
  const configured = readStateDatabase(env)
  return configured === undefined || configured.url === directory.databaseUrl ? directory : undefined
}

/** Returns whether this is a single process with its state in the data directory, as after `npm start`. */
export const isStateInDataDirectory = (env: Environment): boolean =>
  Boolean(env.SVC_STATE_DB_URL) && findDataDirectory(env) !== undefined

const describeDirectory = (path: string): DataDirectory => {
  const database = join(path, databaseName)
  return { path, database, databaseUrl: pathToFileURL(database).href, key: join(path, keyName) }
}

/**
 * Creates the data directory with its database and encryption key, and returns the variables that select them. Returns
 * no variables if the state is kept elsewhere, or if the directory is not writable: state is then kept in memory. Logs
 * where the state is.
 */
export const openDataDirectory = (env: Environment, log: Logger): Record<string, string> => {
  const directory = findDataDirectory(env)
  if (directory === undefined) {
    logStateLocation(env, log)
    return {}
  }
  try {
    mkdirSync(directory.path, { recursive: true })
    closeSync(openSync(directory.database, 'a+', ownerOnly))
    const key = env.SVC_USER_CONNECTIONS_ENCRYPTION_KEY ? undefined : readOrCreateKey(directory, log)
    log.info({ file: directory.database }, 'state is kept in SQLite')
    return {
      SVC_STATE_DB_URL: directory.databaseUrl,
      ...(!env.CONVERSATIONS_EDGESQL && { CONVERSATIONS_EDGESQL: directory.databaseUrl }),
      ...(key !== undefined && { SVC_USER_CONNECTIONS_ENCRYPTION_KEY: key }),
    }
  } catch (error) {
    const code = readErrorCode(error)
    if (code === undefined) throw error
    const remedy = 'make the directory writable for this user, or set SVC_DATA_DIRECTORY to another one'
    log.warn({ directory: directory.path, reason: code, remedy }, 'state is kept in memory and lost at the next start')
    return {}
  }
}

const logStateLocation = (env: Environment, log: Logger): void => {
  const { REDIS_URL } = parseSettings(storeSettings, env)
  const database = readStateDatabase(env)
  const where = [REDIS_URL && `Redis ${REDIS_URL.host}`, database && formatDatabaseName(database)].filter(Boolean)
  if (where.length > 0) return log.info({ where }, 'state is kept in the configured store')
  log.info('state is kept in memory and lost at the next start; set SVC_DATA_DIRECTORY to keep it')
}

/** Returns the key of the directory. It is created by one process only, so that concurrent starts use the same key. */
const readOrCreateKey = ({ key: file }: DataDirectory, log: Logger): string => {
  try {
    writeFileSync(file, randomBytes(keyBytes).toString('base64'), { flag: 'wx', mode: ownerOnly, flush: true })
    log.info({ file }, 'encryption key created; back it up, because stored secrets cannot be read without it')
  } catch (error) {
    if (readErrorCode(error) !== 'EEXIST') throw error
  }
  const key = readFileSync(file, 'utf8').trim()
  if (key.length >= minKeyLength) return key
  const sentence = `"${file}" contains fewer than ${minKeyLength} characters; restore the file, or delete it to create a new key`
  throw new InvalidSettings([{ name: 'SVC_USER_CONNECTIONS_ENCRYPTION_KEY', sentence }])
}

/** Returns the code of a failed file operation; undefined for any other error. */
const readErrorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
