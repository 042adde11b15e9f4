import { z } from 'zod'
import { needsReadOnRemote } from '#proto/grants-script.ts'
import { hostRights, type HostCheck, type HostRight } from '#proto/managed-hosts.ts'
import { quoteName } from '#shared/sql/statement-text.ts'
import { ServiceError } from '#proto/errors.ts'
import { compareVersions, type HostCapabilities } from '../clickhouse/capabilities.ts'
import { checkGrantSince, ownGrants } from '../clickhouse/show-privileges.ts'
import type { Statement } from '../clickhouse/statement.ts'

type RightStates = Extract<HostCheck, { ok: true }>['rights']
type Query = (statement: Statement) => Promise<{ rows: unknown }>

/** Privileges and the objects on which a right needs all of them. */
interface RequiredPrivileges {
  privileges: readonly string[]
  scope: string
}

const requirementsOf = (version: string, database: string): Record<HostRight, readonly RequiredPrivileges[]> => ({
  system: [{ privileges: ['SELECT'], scope: 'system.*' }],
  objects: [{ privileges: ['SHOW TABLES', 'SHOW COLUMNS', 'SHOW DICTIONARIES'], scope: '*.*' }],
  access: [{ privileges: ['SHOW ACCESS'], scope: '*.*' }],
  remote: [
    ...(needsReadOnRemote(version) ? [{ privileges: ['READ'], scope: 'REMOTE' }] : []),
    { privileges: ['REMOTE'], scope: '*.*' },
  ],
  findings: [{ privileges: ['CREATE TABLE', 'SELECT', 'INSERT', 'ALTER DELETE'], scope: `${quoteName(database)}.*` }],
  'kill-query': [{ privileges: ['KILL QUERY'], scope: '*.*' }],
})

/** Rights that a profile with `readonly` forbids, regardless of its grants. */
const writingRights: ReadonlySet<HostRight> = new Set(['findings', 'kill-query'])

/** Returns which rights the user of a host has; `database` contains the tables of Watchhouse on the host. */
export const queryHostRights = async (
  { version, readonly }: Pick<HostCapabilities, 'version' | 'readonly'>,
  database: string,
  query: Query,
): Promise<RightStates> => {
  const requirements = requirementsOf(version, database)
  const isGranted = compareVersions(version, checkGrantSince) < 0 ? await readGrants(query) : createGrantCheck(query)
  const states: RightStates = []
  for (const right of hostRights) {
    const isForbidden = readonly > 0 && writingRights.has(right)
    states.push({ right, isGranted: isForbidden ? false : await areAllGranted(requirements[right], isGranted) })
  }
  return states
}

type GrantCheck = (required: RequiredPrivileges) => Promise<boolean>

/** Returns null if the server rejects the check. */
const areAllGranted = async (required: readonly RequiredPrivileges[], isGranted: GrantCheck) => {
  try {
    for (const each of required) if (!(await isGranted(each))) return false
    return true
  } catch (error) {
    if (error instanceof z.ZodError || (error instanceof ServiceError && error.details?.clickhouseCode)) return null
    throw error
  }
}

const CheckRows = z.tuple([z.tuple([z.coerce.number()])])

const createGrantCheck =
  (query: Query): GrantCheck =>
  async ({ privileges, scope }) => {
    const sql = `CHECK GRANT ${privileges.join(', ')} ON ${scope}`
    const { rows } = await query({ what: 'host-check', bare: true, short: true, maxSeconds: 10, sql })
    return CheckRows.parse(rows)[0][0] === 1
  }

/** Privileges that include others, for versions without `CHECK GRANT`. */
const includingPrivileges: Readonly<Record<string, readonly string[]>> = {
  'SHOW TABLES': ['SHOW', 'SHOW COLUMNS', 'SELECT'],
  'SHOW COLUMNS': ['SHOW', 'SELECT'],
  'SHOW DICTIONARIES': ['SHOW'],
  'SHOW ACCESS': ['ACCESS MANAGEMENT'],
  REMOTE: ['SOURCES'],
  'CREATE TABLE': ['CREATE'],
  'ALTER DELETE': ['ALTER', 'ALTER TABLE'],
}

/** Reads the grants of the user once, and returns a function that searches them. */
const readGrants = async (query: Query): Promise<GrantCheck> => {
  const granted = new Set((await ownGrants(query)).flatMap(parseGrant))
  return async ({ privileges, scope }) =>
    privileges.every((privilege) =>
      ['ALL', privilege, ...(includingPrivileges[privilege] ?? [])].some((name) =>
        [scope.replaceAll('`', ''), '*.*'].some((where) => granted.has(`${name} ON ${where}`)),
      ),
    )
}

const parseGrant = (line: string): string[] => {
  const { privileges = '', scope = '' } = /^GRANT (?<privileges>.+?) ON (?<scope>\S+) /.exec(line)?.groups ?? {}
  return privileges.split(', ').map((name) => `${name} ON ${scope.replaceAll('`', '')}`)
}
