import { ServiceError } from '#proto/errors.ts'
import type { Unavailable } from '#proto/query.ts'
import type { DatabaseClient } from './client.ts'
import { clickhouseCode } from './failure.ts'
import type { Asking } from './transport.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'

interface Needs {
  requires: readonly string[]
}

const unknownTable = 60
const unknownDatabase = 81
const accessDenied = 497
const unknownCluster = 701
/** What a server without a Keeper answers when one of its tables is read from there. */
const withoutKeeper = new Set<number | undefined>([139, 225])

/** Why a definition cannot be answered on a host, when tables that it needs are missing or closed to the user. */
export const missingNeeds = async (
  client: DatabaseClient,
  host: MonitoredHost,
  { requires }: Needs,
  asking: Asking,
): Promise<Unavailable | null> => {
  const presences = await Promise.all(requires.map((table) => client.presence(host, table, asking)))
  const denied = requires.filter((_, index) => presences[index] === 'denied')
  if (denied.length > 0) {
    const rights = denied.map((table) => `SELECT ON ${table}`)
    return closed(host, denied, `GRANT ${rights.join(', ')} TO <user>`)
  }
  const missing = requires.filter((_, index) => presences[index] === 'missing')
  return missing.length > 0 ? absent(host, missing) : null
}

/** The same, told by the failure of the statement itself; undefined when it failed for another reason. */
export const unavailableBy = (
  client: DatabaseClient,
  host: MonitoredHost,
  { requires }: Needs,
  error: unknown,
): Unavailable | undefined => {
  const code = clickhouseCode(error)
  if (code === accessDenied && error instanceof ServiceError) return closed(host, [...requires], grantIn(error.message))
  if ((code === unknownTable || code === unknownDatabase) && requires.length > 0) {
    client.forget(host)
    return absent(host, [...requires])
  }
  if (code === unknownCluster) return unclustered(host)
  return withoutKeeper.has(code) && requires.length > 0 ? unread(host, [...requires]) : undefined
}

/** What a host told, or why it cannot. */
export type Told<T> = { told: T; unavailable: null } | { told: null; unavailable: Unavailable }

/** Asks a host for something that needs certain tables. */
export const askFor = async <T>(
  client: DatabaseClient,
  host: MonitoredHost,
  needs: Needs,
  asking: Asking,
  ask: () => Promise<T>,
): Promise<Told<T>> => {
  const missing = await missingNeeds(client, host, needs, asking)
  if (missing) return { told: null, unavailable: missing }
  try {
    return { told: await ask(), unavailable: null }
  } catch (error) {
    const unavailable = unavailableBy(client, host, needs, error)
    if (unavailable) return { told: null, unavailable }
    throw error
  }
}

/** When the server is older than every branch of a definition. */
export const tooOld = (host: MonitoredHost, serverVersion: string): Unavailable => ({
  reason: 'version',
  message: `host ${host.name} runs ${serverVersion}, which cannot tell this`,
  missingTables: [],
})

const absent = (host: MonitoredHost, missingTables: string[]): Unavailable => ({
  reason: 'missing-table',
  message: `host ${host.name} has no table ${missingTables.join(', ')}`,
  missingTables,
})

const unread = (host: MonitoredHost, missingTables: string[]): Unavailable => ({
  reason: 'missing-table',
  message: `host ${host.name} has no Keeper, from which ${missingTables.join(', ')} would be read`,
  missingTables,
})

const unclustered = (host: MonitoredHost): Unavailable => ({
  reason: 'missing-table',
  message: `host ${host.name} knows no cluster of that name`,
  missingTables: [],
})

const closed = (host: MonitoredHost, tables: string[], grant: string | undefined): Unavailable => ({
  reason: 'permission',
  message: `the user configured for host ${host.name} ${lacking(tables, grant)}`,
  missingTables: [],
  ...(grant !== undefined && { grant }),
})

/** Other rights than to read, such as that to ask other servers, are not told by tables. */
const lacking = (tables: readonly string[], grant = 'GRANT SELECT'): string =>
  /^GRANT (?:SELECT|SHOW)/.test(grant)
    ? `may not read ${tables.join(', ') || 'this'}`
    : `lacks the right ${grant.replace(/^GRANT (.+) ON .*$/, '$1')}`

/** The table of `system` that a statement failed on for want of a right. */
export const deniedTable = (error: unknown): string | undefined =>
  clickhouseCode(error) === accessDenied && error instanceof ServiceError
    ? / ON `?system`?\.`?(\w+)/.exec(grantIn(error.message) ?? '')?.[1]
    : undefined

/** ClickHouse says which right is missing: `… necessary to have the grant SELECT(a, b) ON system.query_log`. */
const grantIn = (sentence: string): string | undefined => {
  const right = /have the grant (.+? ON [\w.*`]*[\w*`])/.exec(sentence)?.[1]
  return right && `GRANT ${right} TO <user>`
}
