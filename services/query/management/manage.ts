import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Management, PasswordHash } from '#proto/management.ts'
import type { query } from '#proto/query.ts'
import { read } from '#shared/config/setting.ts'
import { quoteName, quoteText } from '#shared/sql/quote.ts'
import { write } from '../actions/write.ts'
import { settings } from '../config.ts'
import type { Parts } from '../parts.ts'
import { confirm } from './confirm.ts'

const { COLUMNDB_MANAGEMENT_ENABLED } = settings

/** Changes users, roles or grants of a host after a look at what is there. */
export const manage =
  (parts: Parts): Handlers<typeof query>['manage'] =>
  async ({ hostKey, management }, call) => {
    if (!isEnabled(parts))
      throw new ServiceError('forbidden', 'management is off; COLUMNDB_MANAGEMENT_ENABLED=true turns it on')
    const host = parts.hosts.get(hostKey)
    await confirm(parts, host, management, call)
    const sql = managementStatement(management)
    const grant = 'GRANT ACCESS MANAGEMENT ON *.*, and WITH GRANT OPTION what it shall grant'
    await write(parts, host, { what: `management/${management.operation}`, sql, grant }, call)
    return { ddl: withoutSecrets(sql, management) }
  }

/** Whether that is allowed at all. */
export const management =
  (parts: Parts): Handlers<typeof query>['management'] =>
  async () => ({ enabled: isEnabled(parts) })

const isEnabled = ({ env }: Parts): boolean => read({ COLUMNDB_MANAGEMENT_ENABLED }, env).COLUMNDB_MANAGEMENT_ENABLED

type ParamsOf<O extends Management['operation']> = Extract<Management, { operation: O }>['params']

/** The statement of an operation; every name in it is quoted and every password a hash. */
export const managementStatement = ({ operation, params }: Management): string => {
  switch (operation) {
    case 'create_user':
      return `CREATE USER ${quoteName(params.user)} ${traits(params)}`.trimEnd()
    case 'alter_user':
      return `ALTER USER ${quoteName(params.user)} ${traits(params)}`.trimEnd()
    case 'drop_user':
      return `DROP USER ${quoteName(params.user)}`
    case 'create_role':
      return `CREATE ROLE ${quoteName(params.role)}`
    case 'drop_role':
      return `DROP ROLE ${quoteName(params.role)}`
    case 'grant_role':
      return `GRANT ${quoteName(params.role)} TO ${quoteName(params.to)}${params.adminOption ? ' WITH ADMIN OPTION' : ''}`
    case 'revoke_role':
      return `REVOKE ${quoteName(params.role)} FROM ${quoteName(params.to)}`
    case 'grant_privilege':
      return `GRANT ${right(params)} TO ${quoteName(params.to)}${params.grantOption ? ' WITH GRANT OPTION' : ''}`
    case 'revoke_privilege':
      return `REVOKE ${right(params)} FROM ${quoteName(params.to)}`
  }
}

/** The statement as people may see it. */
const withoutSecrets = (statement: string, { params }: Management): string => {
  const { hash, salt } = ('password' in params && params.password) || {}
  return [hash, salt].reduce<string>((text, secret) => (secret ? text.replaceAll(secret, '[HIDDEN]') : text), statement)
}

const traits = ({ password, allowedHosts, defaultRoles }: ParamsOf<'alter_user'>): string =>
  [password && identified(password), allowedHosts && from(allowedHosts), defaultRoles && defaults(defaultRoles)]
    .filter(Boolean)
    .join(' ')

const identified = ({ hash, salt }: PasswordHash): string =>
  `IDENTIFIED WITH sha256_hash BY ${quoteText(hash)} SALT ${quoteText(salt)}`

const from = (hosts: NonNullable<ParamsOf<'alter_user'>['allowedHosts']>): string =>
  hosts.length === 0 ? 'HOST ANY' : `HOST ${hosts.map(allowedHost).join(', ')}`

const allowedHost = (host: NonNullable<ParamsOf<'alter_user'>['allowedHosts']>[number]): string =>
  host.kind === 'local' ? 'LOCAL' : `${host.kind.toUpperCase()} ${quoteText(host.value)}`

const defaults = (roles: readonly string[]): string =>
  roles.length === 0 ? 'DEFAULT ROLE NONE' : `DEFAULT ROLE ${roles.map(quoteName).join(', ')}`

const right = ({ privilege, columns, database, table }: ParamsOf<'revoke_privilege'>): string => {
  const of = columns.length === 0 ? '' : `(${columns.map(quoteName).join(', ')})`
  const where = `${database === null ? '*' : quoteName(database)}.${table === null ? '*' : quoteName(table)}`
  return `${privilege.toUpperCase()}${of} ON ${where}`
}
