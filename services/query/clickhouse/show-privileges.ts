import { z } from 'zod'
import type { IncompleteReason } from '#proto/unavailable-reason.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { quoteName } from '#shared/sql/statement-text.ts'
import { compareVersions } from './capabilities.ts'
import { findClickhouseErrorCode } from './failure.ts'
import type { Statement } from './statement.ts'

/** Privileges without which ClickHouse omits rows of `system` tables. */
export const showPrivileges = ['SHOW TABLES', 'SHOW COLUMNS', 'SHOW DICTIONARIES'] as const
export type ShowPrivilege = (typeof showPrivileges)[number]

/** The privilege that a user needs to see all rows of a `system` table, by table. */
const requiredPrivileges: Readonly<Record<string, ShowPrivilege>> = {
  columns: 'SHOW COLUMNS',
  dictionaries: 'SHOW DICTIONARIES',
  ...Object.fromEntries(
    [
      'data_skipping_indices',
      'databases',
      'detached_parts',
      'distribution_queue',
      'dropped_tables',
      'dropped_tables_parts',
      'kafka_consumers',
      'merges',
      'moves',
      'mutations',
      'part_moves_between_shards',
      'parts',
      'parts_columns',
      'projection_parts',
      'projection_parts_columns',
      'projections',
      'replicas',
      'replicated_fetches',
      'replication_queue',
      'tables',
      'view_refreshes',
    ].map((table) => [table, 'SHOW TABLES'] as const),
  ),
}

/** Returns why a result may lack rows; null when the user sees all rows of the required `system` tables. */
export const toIncompleteReason = (
  host: MonitoredHost,
  missing: ReadonlySet<ShowPrivilege>,
  requires: readonly string[],
): IncompleteReason | null => {
  if (missing.size === 0) return null
  const isHidden = (table: string): boolean => {
    const privilege = privilegeOf(table)
    return privilege !== undefined && missing.has(privilege)
  }
  const hidden = requires.filter(isHidden)
  if (hidden.length === 0) return null
  const privileges = showPrivileges.filter((each) => hidden.some((table) => privilegeOf(table) === each))
  return {
    message: `host ${host.name} hides rows of ${hidden.join(', ')} from the configured user`,
    grant: grantOf(privileges),
  }
}

const privilegeOf = (table: string): ShowPrivilege | undefined => requiredPrivileges[table.replace(/^system\./, '')]

/** Returns the `system` tables that a statement names. */
export const findSystemTables = (sql: string): string[] => [...new Set(sql.match(/\bsystem\.\w+/g))]

/** Returns the GRANT statement for privileges, with `<user>` as a placeholder. */
const grantOf = (privileges: readonly ShowPrivilege[]): string => `GRANT ${privileges.join(', ')} ON *.* TO <user>`

/** Returns the GRANT statements that an administrator can run; none when no privilege is known to be missing. */
export const toGrantStatements = (missing: ReadonlySet<ShowPrivilege> = new Set()): string[] =>
  missing.size === 0 ? [] : [grantOf(showPrivileges.filter((each) => missing.has(each)))]

/** The first version with `CHECK GRANT`, which also counts roles and implied privileges. */
export const checkGrantSince = '24.11'

const grantsStatement = (sql: string): Statement => ({
  what: 'capabilities',
  bare: true,
  short: true,
  maxSeconds: 10,
  sql,
})

type Query = (statement: Statement) => Promise<{ rows: unknown }>

/**
 * Returns the privileges that the user lacks on `*.*`, including by partial revokes. If the server rejects the check or
 * returns something else, the user counts as having all, so that the host stays usable.
 */
export const queryMissingShowPrivileges = async (
  version: string,
  query: Query,
): Promise<ReadonlySet<ShowPrivilege>> => {
  try {
    if (compareVersions(version, checkGrantSince) < 0) return parseMissingShowPrivileges(await ownGrants(query))
    // One statement suffices for users who see everything.
    if (await hasPrivilege(showPrivileges.join(', '), query)) return new Set()
    const missing = new Set<ShowPrivilege>()
    for (const each of showPrivileges) if (!(await hasPrivilege(each, query))) missing.add(each)
    return missing
  } catch (error) {
    if (error instanceof z.ZodError || findClickhouseErrorCode(error) !== undefined) return new Set()
    throw error
  }
}

const hasPrivilege = async (privilege: string, query: Query): Promise<boolean> =>
  CheckRows.parse((await query(grantsStatement(`CHECK GRANT ${privilege} ON *.*`))).rows)[0][0] === 1

const CheckRows = z.tuple([z.tuple([z.coerce.number()])])
const TextRows = z.array(z.tuple([z.string()]))

/** Returns the grants of the user and of its enabled roles, as `SHOW GRANTS` of older versions omits those of roles. */
export const ownGrants = async (query: Query): Promise<string[]> => {
  const texts = async (sql: string) => TextRows.parse((await query(grantsStatement(sql))).rows).map(([text]) => text)
  const own = await texts('SHOW GRANTS')
  const roles = await texts('SELECT DISTINCT role_name FROM system.enabled_roles')
  const ofRoles = []
  for (const role of roles) ofRoles.push(...(await texts(`SHOW GRANTS FOR ${quoteName(role)}`)))
  return [...own, ...ofRoles]
}

/** Privileges on `*.*` that imply each SHOW privilege: users see the objects that they may use. */
const implyingPrivileges: Readonly<Record<ShowPrivilege, readonly string[]>> = {
  'SHOW TABLES': ['ALL', 'SHOW', 'SHOW TABLES', 'SHOW COLUMNS', 'SELECT', 'INSERT', 'ALTER', 'OPTIMIZE', 'TRUNCATE'],
  'SHOW COLUMNS': ['ALL', 'SHOW', 'SHOW COLUMNS', 'SELECT', 'INSERT'],
  'SHOW DICTIONARIES': ['ALL', 'SHOW', 'SHOW DICTIONARIES', 'dictGet'],
}

/** Returns the SHOW privileges that the lines of `SHOW GRANTS` do not grant on `*.*`. */
export const parseMissingShowPrivileges = (lines: readonly string[]): ReadonlySet<ShowPrivilege> => {
  const everywhere = new Set<string>()
  const revoked = new Set<string>()
  for (const line of lines) {
    const {
      verb,
      privileges = '',
      scope,
    } = /^(?<verb>GRANT|REVOKE) (?<privileges>.+?) ON (?<scope>\S+) /.exec(line)?.groups ?? {}
    const names = privileges.replaceAll(/\([^)]*\)/g, ' of columns').split(', ')
    if (verb === 'GRANT' && scope === '*.*') for (const name of names) everywhere.add(name)
    if (verb === 'REVOKE') for (const name of names) revoked.add(name)
  }
  const isMissing = (privilege: ShowPrivilege) =>
    !implyingPrivileges[privilege].some((name) => everywhere.has(name) && !revoked.has(name))
  return new Set(showPrivileges.filter(isMissing))
}
