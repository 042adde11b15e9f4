import { z } from 'zod'
import type { Call } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Management } from '#proto/management.ts'
import { readRecords } from '../analysis/records.ts'
import type { Parts } from '../parts.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'

/** What an operation needs to be there, or to be free. */
interface Needs {
  user?: string
  role?: string
  /** A user or a role. */
  grantee?: string
  free?: string
  /** What a user shall be in from the start. */
  defaults?: readonly string[] | undefined
  privilege?: string
}

const needsOf = ({ operation, params }: Management): Needs => {
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

// One statement tells all three kinds, so that what is compared was true at one moment. Servers of 2024 compare the enumeration
// of privileges with no text that is none of them.
const lookFor = (defaults: readonly string[]): string => `SELECT 'user' AS kind, name FROM system.users
  WHERE name IN ({user:String}, {grantee:String}, {free:String})
UNION ALL SELECT 'role', name FROM system.roles
  WHERE name IN ({role:String}, {grantee:String}, {free:String}${defaults.map((_, index) => `, {default${index}:String}`).join('')})
UNION ALL SELECT 'privilege', toString(privilege) FROM system.privileges
  WHERE toString(privilege) = upper({privilege:String}) OR has(aliases, upper({privilege:String}))`

const Present = z.object({ kind: z.enum(['user', 'role', 'privilege']), name: z.string() })
type Present = z.infer<typeof Present>

/** Checks an operation against what the host has now; throws `not-found`, `conflict` or `invalid` in words. */
export const confirm = async (
  { client }: Pick<Parts, 'client'>,
  host: MonitoredHost,
  management: Management,
  call: Call,
): Promise<void> => {
  const needs = needsOf(management)
  const { user = '', role = '', grantee = '', free = '', privilege = '', defaults = [] } = needs
  const given = Object.fromEntries(defaults.map((name, index) => [`default${index}`, name]))
  const parameters = { user, role, grantee, free, privilege, ...given }
  const look = { what: 'management/look', sql: lookFor(defaults), parameters }
  const present = readRecords(host, Present, await client.run(host, look, call))
  const problem = problemOf(needs, present, host.name)
  if (problem) throw problem
}

const problemOf = (needs: Needs, present: readonly Present[], host: string): ServiceError | undefined => {
  const { user, role, grantee, free, privilege, defaults = [] } = needs
  const find = (name: string, ...kinds: Present['kind'][]) =>
    present.find((each) => each.name === name && kinds.includes(each.kind))
  const missing = (what: string, name: string) => new ServiceError('not-found', `no ${what} ${name} on host ${host}`)
  const taken = free === undefined ? undefined : find(free, 'user', 'role')
  if (taken) return new ServiceError('conflict', `the ${taken.kind} ${taken.name} is on host ${host} already`)
  if (user !== undefined && !find(user, 'user')) return missing('user', user)
  if (role !== undefined && !find(role, 'role')) return missing('role', role)
  const unknown = defaults.find((name) => !find(name, 'role'))
  if (unknown !== undefined) return missing('role', unknown)
  if (grantee !== undefined && !find(grantee, 'user', 'role')) return missing('user or role', grantee)
  if (privilege !== undefined && !present.some(({ kind }) => kind === 'privilege'))
    return new ServiceError('invalid', `host ${host} knows no privilege ${privilege}; system.privileges names them`, {
      details: { parameter: 'params.privilege' },
    })
  return undefined
}
