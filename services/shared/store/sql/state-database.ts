import type { Environment } from '../../config/environment.ts'
import { InvalidSettings, type Values, read } from '../../config/setting.ts'
import { storeSettings } from '../config.ts'

/** Where the state database is and what kind of server it is. */
export interface StateDatabase {
  kind: 'postgres' | 'sqlite'
  /** With user and password for PostgreSQL; never in a log. */
  url: string
  /** Token of a libSQL server. */
  token: string | undefined
  tablePrefix: string
}

type StoreValues = Values<typeof storeSettings>

const postgresProtocols = new Set(['postgres:', 'postgresql:'])
const sqliteProtocols = new Set(['file:', 'libsql:', 'http:', 'https:', 'ws:', 'wss:'])
/** Those that the driver knows; it takes whatever else for verify-full, and the connection then fails without a word why. */
const sslModes: ReadonlySet<string> = new Set(['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'])
const tablePrefixShape = /^([a-z_][a-z0-9_]{0,30})?$/

/** The state database that the environment names, if any; throws `InvalidSettings`. */
export const stateDatabase = (env: Environment): StateDatabase | undefined => {
  const settings = read(storeSettings, env)
  const tablePrefix = settings.SVC_STATE_DB_TABLE_PREFIX
  if (!tablePrefixShape.test(tablePrefix)) {
    throw refused(
      'SVC_STATE_DB_TABLE_PREFIX',
      'must be lower-case letters, digits and underscores, 31 at most, not beginning with a digit',
    )
  }
  return ownDatabase(settings, tablePrefix) ?? otherDatabase(settings, tablePrefix)
}

/** The PostgreSQL database for what is to be kept in one: the state database, else the one beside a SQLite state database. */
export const postgresDatabase = (env: Environment): StateDatabase | undefined => {
  const state = stateDatabase(env)
  if (state === undefined || state.kind === 'postgres') return state
  return otherDatabase(read(storeSettings, env), state.tablePrefix)
}

const ownDatabase = (settings: StoreValues, tablePrefix: string): StateDatabase | undefined => {
  const {
    SVC_STATE_DB_URL: given,
    SVC_STATE_DB_USER: user,
    SVC_STATE_DB_PASSWORD: password,
    SVC_STATE_DB_DATABASE: database,
  } = settings
  if (given === undefined) {
    if (user || password || database)
      throw refused('SVC_STATE_DB_URL', 'must be set for SVC_STATE_DB_USER, _PASSWORD or _DATABASE to have a meaning')
    return undefined
  }
  const protocol = URL.canParse(given) ? new URL(given).protocol : ''
  if (postgresProtocols.has(protocol))
    return { kind: 'postgres', url: withParts(given, user, password, database), token: undefined, tablePrefix }
  if (!sqliteProtocols.has(protocol)) throw refused('SVC_STATE_DB_URL', 'must begin with postgres:, file: or libsql:')
  if (user || database)
    throw refused('SVC_STATE_DB_URL', 'a SQLite database has neither SVC_STATE_DB_USER nor SVC_STATE_DB_DATABASE')
  return { kind: 'sqlite', url: given, token: password, tablePrefix }
}

const otherDatabase = (settings: StoreValues, tablePrefix: string): StateDatabase | undefined => {
  for (const name of ['DATABASE_URL', 'POSTGRES_URL', 'POSTGRES_PRISMA_URL'] as const) {
    const url = settings[name]
    if (url === undefined) continue
    if (!URL.canParse(url) || !postgresProtocols.has(new URL(url).protocol))
      throw refused(name, 'must be a postgres: URL')
    return { kind: 'postgres', url, token: undefined, tablePrefix }
  }
  if (settings.POSTGRES_HOST === undefined) return undefined
  return { kind: 'postgres', url: discreteUrl(settings, settings.POSTGRES_HOST), token: undefined, tablePrefix }
}

const discreteUrl = (settings: StoreValues, host: string): string => {
  const { POSTGRES_PORT: port, POSTGRES_SSLMODE: sslmode } = settings
  const url = new URL('postgres://localhost')
  if (port !== undefined && !/^\d{1,5}$/.test(port)) throw refused('POSTGRES_PORT', 'must be a port number')
  if (port !== undefined) url.port = port
  if (sslmode !== undefined && !sslModes.has(sslmode))
    throw refused('POSTGRES_SSLMODE', `must be one of ${[...sslModes].join(', ')}`)
  if (host.startsWith('/')) url.searchParams.set('host', host)
  else url.hostname = host.includes(':') ? `[${host}]` : host
  if (sslmode !== undefined) url.searchParams.set('sslmode', sslmode)
  return withParts(
    url.href,
    settings.POSTGRES_USER,
    settings.POSTGRES_PASSWORD,
    settings.POSTGRES_DATABASE ?? settings.POSTGRES_NAME,
  )
}

const withParts = (
  given: string,
  user: string | undefined,
  password: string | undefined,
  database: string | undefined,
): string => {
  const url = new URL(given)
  if (user !== undefined) url.username = encodeURIComponent(user)
  if (password !== undefined) url.password = encodeURIComponent(password)
  if (database !== undefined) url.pathname = `/${encodeURIComponent(database)}`
  return url.href
}

const refused = (name: string, sentence: string): InvalidSettings => new InvalidSettings([{ name, sentence }])
