import { ServiceError } from '#proto/errors.ts'
import type { UnavailableReason } from '#proto/query.ts'
import type { IncompleteReason } from '#proto/unavailable-reason.ts'
import type { DatabaseClient } from './client.ts'
import { findClickhouseErrorCode } from './failure.ts'
import type { QueryContext } from './transport.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { toIncompleteReason } from './show-privileges.ts'

interface Needs {
  requires: readonly string[]
}

const unknownTable = 60
const unknownDatabase = 81
const accessDenied = 497
const unknownCluster = 701
/** Error codes of a server without Keeper, for statements that read tables backed by Keeper. */
const withoutKeeper = new Set<number | undefined>([139, 225])

/** Returns which required tables are missing or not readable for the user; null if the user can read all of them. */
export const checkRequirements = async (
  client: DatabaseClient,
  host: MonitoredHost,
  { requires }: Needs,
  context: QueryContext,
): Promise<UnavailableReason | null> => {
  const presences = await Promise.all(requires.map((table) => client.presence(host, table, context)))
  const denied = requires.filter((_, index) => presences[index] === 'denied')
  if (denied.length > 0) return notPermitted(host, denied, grantSelect(denied))
  const missing = requires.filter((_, index) => presences[index] === 'missing')
  return missing.length > 0 ? missingTable(host, missing) : null
}

/** Converts the error of a statement to an unavailable reason; undefined for errors with another cause. */
export const findUnavailableReason = (
  client: DatabaseClient,
  host: MonitoredHost,
  { requires }: Needs,
  error: unknown,
): UnavailableReason | undefined => {
  const code = findClickhouseErrorCode(error)
  if (code === accessDenied && error instanceof ServiceError)
    return notPermitted(host, [...requires], parseGrant(error.message) ?? grantSelect(requires))
  if ((code === unknownTable || code === unknownDatabase) && requires.length > 0) {
    client.forget(host)
    return missingTable(host, [...requires])
  }
  if (code === unknownCluster) return missingCluster(host)
  return withoutKeeper.has(code) && requires.length > 0 ? missingKeeper(host, [...requires]) : undefined
}

/** The data of a host, or the reason why it is unavailable. */
export type AvailabilityResult<T> =
  | { data: T; unavailable: null; incomplete: IncompleteReason | null }
  | { data: null; unavailable: UnavailableReason; incomplete: null }

/** Runs a query that requires certain tables; returns the unavailable reason when the host lacks them. */
export const queryIfAvailable = async <T>(
  client: DatabaseClient,
  host: MonitoredHost,
  needs: Needs,
  context: QueryContext,
  query: () => Promise<T>,
): Promise<AvailabilityResult<T>> => {
  const missing = await checkRequirements(client, host, needs, context)
  if (missing) return { data: null, unavailable: missing, incomplete: null }
  try {
    return {
      data: await query(),
      unavailable: null,
      incomplete: await findIncompleteReason(client, host, needs, context),
    }
  } catch (error) {
    const unavailable = findUnavailableReason(client, host, needs, error)
    if (unavailable) return { data: null, unavailable, incomplete: null }
    throw error
  }
}

/** Returns why a result from the required tables may lack rows; null if the user sees all rows. */
export const findIncompleteReason = async (
  client: DatabaseClient,
  host: MonitoredHost,
  { requires }: Needs,
  context: QueryContext,
): Promise<IncompleteReason | null> =>
  toIncompleteReason(host, (await client.capabilities(host, context)).missingShow, requires)

/** Returns the unavailable reason for a server that is older than every version branch of a definition. */
export const createUnsupportedVersionReason = (host: MonitoredHost, serverVersion: string): UnavailableReason => ({
  reason: 'version',
  message: `host ${host.name} runs ${serverVersion}, which does not provide this data`,
  missingTables: [],
})

const missingTable = (host: MonitoredHost, missingTables: string[]): UnavailableReason => ({
  reason: 'missing-table',
  message: `host ${host.name} has no table ${missingTables.join(', ')}`,
  missingTables,
})

const missingKeeper = (host: MonitoredHost, missingTables: string[]): UnavailableReason => ({
  reason: 'missing-table',
  message: `host ${host.name} has no Keeper, which ${missingTables.join(', ')} requires`,
  missingTables,
})

const missingCluster = (host: MonitoredHost): UnavailableReason => ({
  reason: 'missing-table',
  message: `host ${host.name} has no cluster with that name`,
  missingTables: [],
})

const notPermitted = (host: MonitoredHost, tables: string[], grant: string | undefined): UnavailableReason => ({
  reason: 'permission',
  message: `the user configured for host ${host.name} ${describeMissingPrivilege(tables, grant)}`,
  missingTables: [],
  ...(grant !== undefined && { grant }),
})

/** Describes a missing privilege: by its tables for SELECT and SHOW, by its name for others, such as REMOTE. */
const describeMissingPrivilege = (tables: readonly string[], grant = 'GRANT SELECT'): string =>
  /^GRANT (?:SELECT|SHOW)/.test(grant)
    ? `may not read ${tables.join(', ') || 'this'}`
    : `lacks the privilege ${grant.replace(/^GRANT (.+) ON .*$/, '$1')}`

/** Returns the name of the `system` table that the user may not read, if the error names one. */
export const findDeniedTable = (error: unknown): string | undefined =>
  findClickhouseErrorCode(error) === accessDenied && error instanceof ServiceError
    ? / ON `?system`?\.`?(\w+)/.exec(parseGrant(error.message) ?? '')?.[1]
    : undefined

/** Returns the statement that lets the user read these tables; undefined without tables. */
const grantSelect = (tables: readonly string[]): string | undefined =>
  tables.length > 0 ? `GRANT ${tables.map((table) => `SELECT ON ${table}`).join(', ')} TO <user>` : undefined

/**
 * Converts the privilege in `… necessary to have the grant SELECT(a, b) ON system.query_log` to a GRANT statement for
 * the whole table. Undefined if the message was cut within the columns, or names none, as for `count()`.
 */
const parseGrant = (sentence: string): string | undefined => {
  const privilege = /have the grant (.+? ON [\w.*`]*[\w*`])/.exec(sentence)?.[1]
  return privilege && `GRANT ${privilege.replace(/^SELECT\([^)]*\)/, 'SELECT')} TO <user>`
}
