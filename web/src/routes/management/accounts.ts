import type { Row } from '#proto/query.ts'

/** A database user. */
export interface DatabaseUser {
  name: string
  storage: string
  authentication: string
  addresses: readonly string[]
  hasAllRoles: boolean
  roles: readonly string[]
}

/** A role with its members. */
export interface Role {
  name: string
  storage: string
  users: readonly string[]
  roles: readonly string[]
}

/** A privilege of a user or a role. A null field means all databases, tables or columns. */
export interface Grant {
  grantee: string
  kind: string
  privilege: string
  database: string | null
  table: string | null
  column: string | null
  isException: boolean
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const textOrNull = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])
const isTrue = (value: unknown): boolean => ['1', 'true'].includes(String(value))

export const toDatabaseUser = (row: Row): DatabaseUser => ({
  name: text(row['name']),
  storage: text(row['storage']),
  authentication: texts(row['auth_types']).join(', '),
  addresses: [...texts(row['addresses']).map(formatAllowedAddress), ...texts(row['hosts'])],
  hasAllRoles: isTrue(row['all_roles']),
  roles: texts(row['roles']),
})

/** Formats an allowed address. ClickHouse returns `::/0` if any address is allowed. */
const formatAllowedAddress = (address: string): string => (address === '::/0' ? 'anywhere' : address)

export const toRole = (row: Row): Role => ({
  name: text(row['name']),
  storage: text(row['storage']),
  users: texts(row['users']),
  roles: texts(row['roles']),
})

export const toGrant = (row: Row): Grant => ({
  grantee: text(row['grantee']),
  kind: text(row['kind']),
  privilege: text(row['privilege']),
  database: textOrNull(row['database']),
  table: textOrNull(row['table']),
  column: textOrNull(row['column']),
  isException: isTrue(row['is_exception']),
})

/** Formats the target of a grant, for example `shop.orders (id)`, `shop.*` or `*.*`. */
export const formatGrantTarget = ({ database, table, column }: Grant): string =>
  `${database ?? '*'}.${table ?? '*'}${column === null ? '' : ` (${column})`}`

/** Returns why statements cannot change a user or role in this storage; null if they can. */
export const findReadOnlyReason = (storage: string): string | null =>
  storage.endsWith('_xml') ? 'Managed by a configuration file on the host; edit it there' : null

/** Parses a comma-separated list of allowed hosts: IP addresses, networks, host names or `local`. */
export const parseAllowedHosts = (typed: string) =>
  splitList(typed).map((value) => {
    if (value === 'local') return { kind: 'local' as const }
    return { kind: /^[\d.]+(\/\d+)?$|:/.test(value) ? ('ip' as const) : ('name' as const), value }
  })

/** Splits a comma-separated list. Empty items are left out. */
export const splitList = (typed: string): string[] => typed.split(',').flatMap((word) => word.trim() || [])
