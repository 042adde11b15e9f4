import { distance } from 'fastest-levenshtein'
import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { IncompleteReason, UnavailableReason } from '#proto/unavailable-reason.ts'
import { quoteName } from '#shared/sql/statement-text.ts'
import { readRecords } from '../analysis/read-records.ts'
import { findIncompleteReason, checkRequirements, findUnavailableReason } from '../clickhouse/availability.ts'
import { findClickhouseErrorCode } from '../clickhouse/failure.ts'
import type { ParameterValue, Statement } from '../clickhouse/statement.ts'
import { expandMacros, type MacroScope } from '../definitions/macros.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import type { ExplorerQuery } from './views.ts'

/** The host and the call of a request, with the dependencies of the handlers. */
export interface HostContext {
  parts: QueryHandlerDeps
  host: MonitoredHost
  call: CallContext
}

/** Rows of a view, or why they are unavailable. */
export interface ViewResult<R> {
  rows: R[]
  truncated: boolean
  unavailable: UnavailableReason | null
  incomplete: IncompleteReason | null
}

const noScope = { window: undefined, zone: undefined, logs: new Map() }

/** Reads a view in one statement. After an empty result, a second statement checks that the object exists. */
export const readView = async <S extends z.ZodType>(
  { parts, host, call }: HostContext,
  view: ExplorerQuery<S>,
  named: ObjectName,
  parameters: Readonly<Record<string, ParameterValue>> = {},
  scope: MacroScope = noScope,
): Promise<ViewResult<z.output<S>>> => {
  const { client } = parts
  const unavailable = await checkRequirements(client, host, view, call)
  if (unavailable) return { rows: [], truncated: false, unavailable, incomplete: null }
  try {
    const statement = {
      what: `explorer/${view.what}`,
      cache: 'realtime' as const,
      sql: expandMacros(`${view.sql}\nLIMIT ${view.limit + 1}`, scope),
      parameters: { ...named, ...parameters },
    }
    const rows = readRecords(host, view.row, await client.run(host, statement, call))
    const missing = rows.length === 0 ? await explainEmptyResult({ parts, host, call }, named) : null
    return {
      rows: rows.slice(0, view.limit),
      truncated: rows.length > view.limit,
      unavailable: missing,
      incomplete: await findIncompleteReason(client, host, view, call),
    }
  } catch (error) {
    const closed = findUnavailableReason(client, host, view, error)
    if (closed) return { rows: [], truncated: false, unavailable: closed, incomplete: null }
    throw error
  }
}

/** The database and table of a request. */
interface ObjectName {
  database?: string | undefined
  table?: string | undefined
}

/** Maximum number of names that a `not-found` error suggests. */
const nearestCount = 5
/** Maximum number of names to compare for suggestions. */
const maxComparedNames = 20_000

/** Error codes for an unknown table, an unknown database and a missing CREATE statement. */
const missingCodes = new Set<number | undefined>([60, 81, 390])

const Known = z.object({
  databases: z.array(z.string()),
  tables: z.array(z.string()),
  elsewhere: z.array(z.string()),
})

/**
 * Returns null if the database or table of an empty result exists, or a reason if the user may not see it. Otherwise
 * throws `not-found` with similar names.
 */
export const explainEmptyResult = async (
  context: HostContext,
  named: ObjectName,
): Promise<UnavailableReason | null> => {
  const { parts, host, call } = context
  const { database, table } = named
  if (database === undefined) return null
  const [known] = readRecords(host, Known, await parts.client.run(host, knownStatement(database, table), call))
  if (!known) return null
  if (table === undefined ? known.databases.includes(database) : known.tables.includes(table)) return null
  return (await accessFailure(context, { database, table })) ?? Promise.reject(notFound(known, database, table))
}

/** Returns the `not-found` error for a statement that failed on a missing object, or undefined. */
export const findMissingObjectError = async (
  context: HostContext,
  named: ObjectName,
  failure: unknown,
): Promise<unknown> => {
  if (!missingCodes.has(findClickhouseErrorCode(failure))) return undefined
  return explainEmptyResult(context, named).then(
    () => undefined,
    (error: unknown) => error,
  )
}

const knownStatement = (database: string, table = ''): Statement => ({
  what: 'explorer/names',
  sql: `SELECT
  (SELECT groupArray(${maxComparedNames})(name) FROM system.databases) AS databases,
  (SELECT groupArray(${maxComparedNames})(name) FROM system.tables WHERE database = {database:String}) AS tables,
  (SELECT groupArray(${nearestCount})(database) FROM system.tables WHERE name = {table:String}) AS elsewhere`,
  parameters: { database, table },
})

/** Checks access with EXISTS, which fails without grants, while `system.tables` only omits the table. */
const accessFailure = async (
  { parts, host, call }: HostContext,
  { database, table }: { database: string; table: string | undefined },
): Promise<UnavailableReason | undefined> => {
  const sql =
    table === undefined
      ? `EXISTS DATABASE ${quoteName(database)}`
      : `EXISTS TABLE ${quoteName(database)}.${quoteName(table)}`
  try {
    await parts.client.run(host, { what: 'explorer/exists', sql }, call)
    return undefined
  } catch (error) {
    return findUnavailableReason(parts.client, host, { requires: [] }, error)
  }
}

const notFound = (known: z.output<typeof Known>, database: string, table: string | undefined): ServiceError => {
  if (table === undefined || !known.databases.includes(database)) {
    const nearest = nearestOf(database, known.databases)
    return new ServiceError('not-found', `unknown database "${database}"${offer(database, nearest)}`, {
      details: { parameter: 'database', nearest },
    })
  }
  const nearest = nearestOf(table, known.tables)
  const elsewhere = known.elsewhere.map((each) => `${each}.${table}`)
  const there = elsewhere.length > 0 ? `; found elsewhere: ${elsewhere.join(', ')}` : offer(table, nearest)
  return new ServiceError('not-found', `unknown table "${database}.${table}"${there}`, {
    details: { parameter: 'table', nearest, elsewhere },
  })
}

const offer = (name: string, [best]: readonly string[]): string =>
  best !== undefined && distance(best, name) <= best.length / 2 ? `; did you mean "${best}"?` : ''

const nearestOf = (name: string, names: readonly string[]): string[] => {
  const distances = names.map((each) => [each, distance(each.toLowerCase(), name.toLowerCase())] as const)
  return distances
    .toSorted(([, a], [, b]) => a - b)
    .slice(0, nearestCount)
    .map(([each]) => each)
}
