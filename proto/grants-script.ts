import type { HostRight } from './managed-hosts.ts'

interface GrantOptions {
  user: string
  /** Version of the server, such as `25.8.1.1`; null if it is not known yet. */
  version: string | null
  /** The database for insights and page views. */
  database: string
}

/** What a grants script allows in addition to monitoring. */
interface GrantsScriptOptions extends GrantOptions {
  /** Whether insights and page views are stored on the host. */
  withFindings: boolean
  withKill: boolean
}

/** The text that replaces the password in a script. */
export const passwordPlaceholder = '<password>'

const monitoringRights = ['system', 'objects', 'access', 'remote'] as const

/**
 * Returns the statements that create a database user with the rights that monitoring needs. Without options the user can
 * only read. The administrator replaces the placeholder of the password.
 */
export const formatGrantsScript = ({ withFindings, withKill, ...options }: GrantsScriptOptions): string => {
  const rights: HostRight[] = [...monitoringRights]
  if (withFindings) rights.push('findings')
  if (withKill) rights.push('kill-query')
  const profile = withFindings || withKill ? '' : ' SETTINGS readonly = 2'
  const password = quote(passwordPlaceholder, "'")
  const create = `CREATE USER IF NOT EXISTS ${quote(options.user, '`')} IDENTIFIED BY ${password}${profile};`
  return `${[create, ...rights.flatMap((right) => formatRightGrants(right, options))].join('\n')}\n`
}

/** Returns the statements that grant a right, one per line. */
export const formatRightGrants = (right: HostRight, { user, version, database }: GrantOptions): string[] => {
  const grant = (privileges: string) => `GRANT ${privileges} TO ${quote(user, '`')};`
  switch (right) {
    case 'system':
      return [grant('SELECT ON system.*')]
    case 'objects':
      return [grant('SHOW ON *.*')]
    case 'access':
      return [grant('SHOW ACCESS ON *.*')]
    case 'remote': {
      const readOnRemote = grant('READ ON REMOTE')
      const isOptional = version === null ? [`-- Only with ClickHouse 25.7 or newer: ${readOnRemote}`] : []
      return [grant('REMOTE ON *.*'), ...(version !== null && needsReadOnRemote(version) ? [readOnRemote] : isOptional)]
    }
    case 'findings':
      return [grant(`CREATE TABLE, SELECT, INSERT, ALTER DELETE ON ${quote(database, '`')}.*`)]
    case 'kill-query':
      return [grant('KILL QUERY ON *.*')]
  }
}

/** Returns whether reading other servers needs a privilege of its own, as since version 25.7. */
export const needsReadOnRemote = (version: string): boolean => {
  const [year = 0, month = 0] = version.split('.').map(Number)
  return year > 25 || (year === 25 && month >= 7)
}

const quote = (text: string, sign: string): string => {
  const escaped = text.replaceAll('\\', String.raw`\\`).replaceAll(sign, `\\${sign}`)
  return `${sign}${escaped}${sign}`
}
