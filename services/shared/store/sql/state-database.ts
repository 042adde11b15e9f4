import type { Environment } from '../../config/environment.ts'
import { InvalidSettings, parseSettings, type SettingProblem, type SettingValues } from '../../config/setting.ts'
import { databaseSettings } from '../config.ts'
import type { Logger } from 'pino'
import type { Database } from './connection.ts'
import { createOutageReporter } from '../heartbeat.ts'

/** Address and kind of the state database. */
export interface StateDatabase {
  kind: 'postgres' | 'sqlite'
  /** Contains credentials for PostgreSQL and must not be logged. */
  url: string
  /** Token of a libSQL server. */
  token: string | undefined
  tablePrefix: string
}

type DatabaseValues = SettingValues<typeof databaseSettings>

const postgresProtocols = new Set(['postgres:', 'postgresql:'])
const sqliteProtocols = new Set(['file:', 'libsql:', 'http:', 'https:', 'ws:', 'wss:'])
/** Supported TLS modes. The driver treats any other as verify-full, which then fails without a clear reason. */
const sslModes: ReadonlySet<string> = new Set(['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'])
const tablePrefixPattern = /^([a-z_][a-z0-9_]{0,30})?$/

/** Returns the configured state database, if any; throws `InvalidSettings` with all problems. */
export const readStateDatabase = (env: Environment): StateDatabase | undefined => {
  const settings = parseSettings(databaseSettings, env)
  const problems = findDatabaseProblems(settings)
  if (problems.length > 0) throw new InvalidSettings(problems)
  const tablePrefix = settings.SVC_STATE_DB_TABLE_PREFIX
  return readStateUrl(settings, tablePrefix) ?? readPostgresSettings(settings, tablePrefix)
}

/**
 * Returns the PostgreSQL database for data that requires one: the state database, or one configured in addition to
 * SQLite.
 */
export const findPostgresDatabase = (env: Environment): StateDatabase | undefined => {
  const state = readStateDatabase(env)
  if (state === undefined || state.kind === 'postgres') return state
  return readPostgresSettings(parseSettings(databaseSettings, env), state.tablePrefix)
}

const findDatabaseProblems = (settings: DatabaseValues): SettingProblem[] => {
  const own = parseProtocol(settings.SVC_STATE_DB_URL)
  // PostgreSQL may be configured in addition to SQLite, for data that requires it.
  const isOtherUsed = own === undefined || sqliteProtocols.has(own)
  return [...findStateUrlProblems(settings, own), ...(isOtherUsed ? findPostgresProblems(settings) : [])]
}

const findStateUrlProblems = (settings: DatabaseValues, protocol: string | undefined): SettingProblem[] => {
  const { SVC_STATE_DB_USER: user, SVC_STATE_DB_PASSWORD: password, SVC_STATE_DB_DATABASE: database } = settings
  const problems: SettingProblem[] = []
  const addProblem = (name: string, sentence: string) => void problems.push({ name, sentence })
  if (!tablePrefixPattern.test(settings.SVC_STATE_DB_TABLE_PREFIX)) {
    const sentence = 'must be at most 31 lower-case letters, digits and underscores, and not start with a digit'
    addProblem('SVC_STATE_DB_TABLE_PREFIX', sentence)
  }
  if (protocol === undefined) {
    if (user || password || database)
      addProblem(
        'SVC_STATE_DB_URL',
        'must be set when SVC_STATE_DB_USER, SVC_STATE_DB_PASSWORD or SVC_STATE_DB_DATABASE is',
      )
  } else if (sqliteProtocols.has(protocol)) {
    if (user || database)
      addProblem('SVC_STATE_DB_URL', 'must be a PostgreSQL URL when SVC_STATE_DB_USER or SVC_STATE_DB_DATABASE is set')
  } else if (!postgresProtocols.has(protocol)) {
    addProblem('SVC_STATE_DB_URL', 'must begin with postgres:, file: or libsql:')
  }
  return problems
}

const findPostgresProblems = (settings: DatabaseValues): SettingProblem[] => {
  const { POSTGRES_HOST: host, POSTGRES_PORT: port, POSTGRES_SSLMODE: sslmode } = settings
  const name = postgresUrlNames.find((setting) => settings[setting] !== undefined)
  if (name !== undefined) {
    return postgresProtocols.has(parseProtocol(settings[name]) ?? '')
      ? []
      : [{ name, sentence: 'must be a postgres: URL' }]
  }
  if (host === undefined) return []
  const problems: SettingProblem[] = []
  if (port !== undefined && !/^\d{1,5}$/.test(port)) {
    problems.push({ name: 'POSTGRES_PORT', sentence: 'must be a port number' })
  }
  if (sslmode !== undefined && !sslModes.has(sslmode)) {
    problems.push({ name: 'POSTGRES_SSLMODE', sentence: `must be one of ${[...sslModes].join(', ')}` })
  }
  return problems
}

/** Returns the protocol of a URL; empty if invalid, undefined without a URL. */
const parseProtocol = (url: string | undefined): string | undefined =>
  url === undefined ? undefined : URL.canParse(url) ? new URL(url).protocol : ''

const readStateUrl = (settings: DatabaseValues, tablePrefix: string): StateDatabase | undefined => {
  const { SVC_STATE_DB_URL: configuredUrl, SVC_STATE_DB_USER: user, SVC_STATE_DB_PASSWORD: password } = settings
  if (configuredUrl === undefined) return undefined
  if (sqliteProtocols.has(new URL(configuredUrl).protocol))
    return { kind: 'sqlite', url: configuredUrl, token: password, tablePrefix }
  const url = replaceUrlParts(configuredUrl, user, password, settings.SVC_STATE_DB_DATABASE)
  return { kind: 'postgres', url, token: undefined, tablePrefix }
}

/** Settings that contain a PostgreSQL URL, in order of precedence. */
const postgresUrlNames = ['DATABASE_URL', 'POSTGRES_URL', 'POSTGRES_PRISMA_URL'] as const

const readPostgresSettings = (settings: DatabaseValues, tablePrefix: string): StateDatabase | undefined => {
  const { POSTGRES_HOST: host } = settings
  const configuredUrl = postgresUrlNames.map((name) => settings[name]).find((url) => url !== undefined)
  const url = configuredUrl ?? (host === undefined ? undefined : buildPostgresUrl(settings, host))
  return url === undefined ? undefined : { kind: 'postgres', url, token: undefined, tablePrefix }
}

const buildPostgresUrl = (settings: DatabaseValues, host: string): string => {
  const { POSTGRES_PORT: port, POSTGRES_SSLMODE: sslmode } = settings
  const url = new URL('postgres://localhost')
  if (port !== undefined) url.port = port
  if (host.startsWith('/')) url.searchParams.set('host', host)
  else url.hostname = host.includes(':') ? `[${host}]` : host
  if (sslmode !== undefined) url.searchParams.set('sslmode', sslmode)
  return replaceUrlParts(
    url.href,
    settings.POSTGRES_USER,
    settings.POSTGRES_PASSWORD,
    settings.POSTGRES_DATABASE ?? settings.POSTGRES_NAME,
  )
}

const replaceUrlParts = (
  baseUrl: string,
  user: string | undefined,
  password: string | undefined,
  database: string | undefined,
): string => {
  const url = new URL(baseUrl)
  if (user !== undefined) url.username = encodeURIComponent(user)
  if (password !== undefined) url.password = encodeURIComponent(password)
  if (database !== undefined) url.pathname = `/${encodeURIComponent(database)}`
  return url.href
}

/** Opens the state database for a service; returns undefined if none is configured. */
export const openStateDatabase = async (env: Environment, log: Logger): Promise<Database | undefined> => {
  const where = readStateDatabase(env)
  if (where === undefined) return undefined
  // Imported only if a database is configured, because the drivers are large.
  const { openDatabase } = await import('./connection.ts')
  return openDatabase(where, createOutageReporter(log, 'state database'))
}
