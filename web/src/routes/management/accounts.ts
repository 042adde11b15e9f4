import type { Row } from '#proto/query.ts'

/** A user of a database, as the page `users` tells of it. */
export interface Account {
  name: string
  storage: string
  provesBy: string
  addresses: readonly string[]
  hasAllRoles: boolean
  roles: readonly string[]
}

/** A role, and who has it. */
export interface Role {
  name: string
  storage: string
  users: readonly string[]
  roles: readonly string[]
}

/** A privilege that a user or a role has; null is everything of that kind. */
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
const isSo = (value: unknown): boolean => ['1', 'true'].includes(String(value))

export const accountOf = (row: Row): Account => ({
  name: text(row['name']),
  storage: text(row['storage']),
  provesBy: texts(row['auth_types']).join(', '),
  addresses: [...texts(row['addresses']).map(anywhere), ...texts(row['hosts'])],
  hasAllRoles: isSo(row['all_roles']),
  roles: texts(row['roles']),
})

/** How hosts write that any address will do. */
const anywhere = (address: string): string => (address === '::/0' ? 'anywhere' : address)

export const roleOf = (row: Row): Role => ({
  name: text(row['name']),
  storage: text(row['storage']),
  users: texts(row['users']),
  roles: texts(row['roles']),
})

export const grantOf = (row: Row): Grant => ({
  grantee: text(row['grantee']),
  kind: text(row['kind']),
  privilege: text(row['privilege']),
  database: textOrNull(row['database']),
  table: textOrNull(row['table']),
  column: textOrNull(row['column']),
  isException: isSo(row['is_exception']),
})

/** `shop.orders (id)`, `shop.*`, `*.*`. */
export const whereOf = ({ database, table, column }: Grant): string =>
  `${database ?? '*'}.${table ?? '*'}${column === null ? '' : ` (${column})`}`

/** Why something cannot be changed by statements; null where it can. */
export const whyFixedIn = (storage: string): string | null =>
  storage.endsWith('_xml') ? 'It stands in a file of the host, and is changed there' : null

/** Where somebody may come from, as it is typed: addresses, networks, names of hosts, `local`. */
export const allowedHostsOf = (typed: string) =>
  wordsOf(typed).map((value) => {
    if (value === 'local') return { kind: 'local' as const }
    return { kind: /^[\d.]+(\/\d+)?$|:/.test(value) ? ('ip' as const) : ('name' as const), value }
  })

/** Words between commas. */
export const wordsOf = (typed: string): string[] => typed.split(',').flatMap((word) => word.trim() || [])
