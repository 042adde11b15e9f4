import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { ManagementOperation, PasswordHash } from '#proto/management.ts'
import type { query } from '#proto/query.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { quoteName, quoteText } from '#shared/sql/statement-text.ts'
import { runWrite } from '../actions/write.ts'
import { readRecords } from '../analysis/read-records.ts'
import { settings } from '../config.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'

const { COLUMNDB_MANAGEMENT_ENABLED } = settings

/** Returns the handler that validates a change to the users, roles or grants of a host, and then executes it. */
export const createManageHandler =
  (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['manage'] =>
  async ({ hostKey, management }, call) => {
    if (!isEnabled(parts))
      throw new ServiceError('forbidden', 'user management is disabled; set COLUMNDB_MANAGEMENT_ENABLED=true')
    const host = parts.hosts.get(hostKey)
    await confirm(parts, host, management, call)
    const sql = buildManagementStatement(management)
    const grant = 'GRANT ACCESS MANAGEMENT ON *.*, and WITH GRANT OPTION for each privilege that it grants'
    await runWrite(parts, host, { what: `management/${management.operation}`, sql, grant }, call)
    return { ddl: withoutSecrets(sql, management) }
  }

/** Returns the handler that reports whether user management is enabled. */
export const createManagementStatusHandler =
  (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['management'] =>
  async () => ({ enabled: isEnabled(parts) })

const isEnabled = ({ env }: QueryHandlerDeps): boolean =>
  parseSettings({ COLUMNDB_MANAGEMENT_ENABLED }, env).COLUMNDB_MANAGEMENT_ENABLED

type ParamsOf<O extends ManagementOperation['operation']> = Extract<ManagementOperation, { operation: O }>['params']

/** Returns the statement of an operation. All names are quoted, and passwords are sent as hashes. */
export const buildManagementStatement = ({ operation, params }: ManagementOperation): string => {
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
      return `GRANT ${buildPrivilegeClause(params)} TO ${quoteName(params.to)}${params.grantOption ? ' WITH GRANT OPTION' : ''}`
    case 'revoke_privilege':
      return `REVOKE ${buildPrivilegeClause(params)} FROM ${quoteName(params.to)}`
  }
}

/** Returns the statement without password hash and salt. */
const withoutSecrets = (statement: string, { params }: ManagementOperation): string => {
  const { hash, salt } = ('password' in params && params.password) || {}
  return [hash, salt].reduce<string>((text, secret) => (secret ? text.replaceAll(secret, '[HIDDEN]') : text), statement)
}

const traits = ({ password, allowedHosts, defaultRoles }: ParamsOf<'alter_user'>): string =>
  [
    password && buildPasswordClause(password),
    allowedHosts && buildHostClause(allowedHosts),
    defaultRoles && defaults(defaultRoles),
  ]
    .filter(Boolean)
    .join(' ')

const buildPasswordClause = ({ hash, salt }: PasswordHash): string =>
  `IDENTIFIED WITH sha256_hash BY ${quoteText(hash)} SALT ${quoteText(salt)}`

const buildHostClause = (hosts: NonNullable<ParamsOf<'alter_user'>['allowedHosts']>): string =>
  hosts.length === 0 ? 'HOST ANY' : `HOST ${hosts.map(allowedHost).join(', ')}`

const allowedHost = (host: NonNullable<ParamsOf<'alter_user'>['allowedHosts']>[number]): string =>
  host.kind === 'local' ? 'LOCAL' : `${host.kind.toUpperCase()} ${quoteText(host.value)}`

const defaults = (roles: readonly string[]): string =>
  roles.length === 0 ? 'DEFAULT ROLE NONE' : `DEFAULT ROLE ${roles.map(quoteName).join(', ')}`

const buildPrivilegeClause = ({ privilege, columns, database, table }: ParamsOf<'revoke_privilege'>): string => {
  const of = columns.length === 0 ? '' : `(${columns.map(quoteName).join(', ')})`
  const where = `${database === null ? '*' : quoteName(database)}.${table === null ? '*' : quoteName(table)}`
  return `${privilege.toUpperCase()}${of} ON ${where}`
}

/** The users, roles and privileges that must exist for an operation, and the name that must not exist yet. */
interface Needs {
  user?: string
  role?: string
  /** The user or role that receives or loses a grant. */
  grantee?: string
  free?: string
  /** The default roles of a user. */
  defaults?: readonly string[] | undefined
  privilege?: string
}

const needsOf = ({ operation, params }: ManagementOperation): Needs => {
  switch (operation) {
    case 'create_user':
      return { free: params.user, defaults: params.defaultRoles }
    case 'create_role':
      return { free: params.role }
    case 'alter_user':
      return { user: params.user, defaults: params.defaultRoles }
    case 'drop_user':
      return { user: params.user }
    case 'drop_role':
      return { role: params.role }
    case 'grant_role':
    case 'revoke_role':
      return { role: params.role, grantee: params.to }
    case 'grant_privilege':
    case 'revoke_privilege':
      return { privilege: params.privilege, grantee: params.to }
  }
}

// Builds one statement for users, roles and privileges, so that they are consistent. Privileges become strings,
// because servers of 2024 cannot compare an enum with strings that are not among its values.
const buildLookupSql = (defaults: readonly string[]): string => `SELECT 'user' AS kind, name FROM system.users
  WHERE name IN ({user:String}, {grantee:String}, {free:String})
UNION ALL SELECT 'role', name FROM system.roles
  WHERE name IN ({role:String}, {grantee:String}, {free:String}${defaults.map((_, index) => `, {default${index}:String}`).join('')})
UNION ALL SELECT 'privilege', toString(privilege) FROM system.privileges
  WHERE toString(privilege) = upper({privilege:String}) OR has(aliases, upper({privilege:String}))`

const Present = z.object({ kind: z.enum(['user', 'role', 'privilege']), name: z.string() })
type Present = z.infer<typeof Present>

/** Checks that an operation is possible on the host. Throws `not-found`, `conflict` or `invalid` otherwise. */
const confirm = async (
  { client }: Pick<QueryHandlerDeps, 'client'>,
  host: MonitoredHost,
  management: ManagementOperation,
  call: CallContext,
): Promise<void> => {
  const needs = needsOf(management)
  const { user = '', role = '', grantee = '', free = '', privilege = '', defaults = [] } = needs
  const given = Object.fromEntries(defaults.map((name, index) => [`default${index}`, name]))
  const parameters = { user, role, grantee, free, privilege, ...given }
  const look = { what: 'management/look', sql: buildLookupSql(defaults), parameters }
  const present = readRecords(host, Present, await client.run(host, look, call))
  const problem = problemOf(needs, present, host.name)
  if (problem) throw problem
}

const problemOf = (needs: Needs, present: readonly Present[], host: string): ServiceError | undefined => {
  const { user, role, grantee, free, privilege, defaults = [] } = needs
  const find = (name: string, ...kinds: Present['kind'][]) =>
    present.find((each) => each.name === name && kinds.includes(each.kind))
  const missing = (what: string, name: string) =>
    new ServiceError('not-found', `unknown ${what} "${name}" on host ${host}`)
  const taken = free === undefined ? undefined : find(free, 'user', 'role')
  if (taken) return new ServiceError('conflict', `the ${taken.kind} "${taken.name}" already exists on host ${host}`)
  if (user !== undefined && !find(user, 'user')) return missing('user', user)
  if (role !== undefined && !find(role, 'role')) return missing('role', role)
  const unknown = defaults.find((name) => !find(name, 'role'))
  if (unknown !== undefined) return missing('role', unknown)
  if (grantee !== undefined && !find(grantee, 'user', 'role')) return missing('user or role', grantee)
  if (privilege !== undefined && !present.some(({ kind }) => kind === 'privilege'))
    return new ServiceError('invalid', `unknown privilege "${privilege}" on host ${host}; see system.privileges`, {
      details: { parameter: 'params.privilege' },
    })
  return undefined
}
