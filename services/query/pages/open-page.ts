import { type Call, requireFeature } from '#proto/call.ts'
import type { TableRequest, Unavailable } from '#proto/query.ts'
import type { Incomplete } from '#proto/unavailable.ts'
import { read } from '#shared/config/setting.ts'
import { missingNeeds, tooOld } from '../clickhouse/availability.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { incompleteBy } from '../clickhouse/visible-rows.ts'
import { settings } from '../config.ts'
import type { LoadedTable } from '../definitions/load.ts'
import { withSetDefaults, zoneFor } from '../definitions/parameters.ts'
import type { TableCircumstances } from '../definitions/table-statement.ts'
import type { Parts } from '../parts.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'

/** A table page on a host, before reading. */
export interface Page {
  host: MonitoredHost
  table: LoadedTable
  circumstances: TableCircumstances
  incomplete: Incomplete | null
}

type PageRequest = Pick<TableRequest, 'hostKey' | 'name' | 'timezone'>
type Build = (table: LoadedTable, circumstances: TableCircumstances) => Statement | undefined

/** Returns the page with its statement, or why it is unavailable. Throws when the caller may not see it. */
export const openPage = async (
  parts: Parts,
  request: PageRequest,
  call: Call,
  build: Build,
): Promise<Page & ({ statement: Statement } | { unavailable: Unavailable })> => {
  const host = parts.hosts.get(request.hostKey)
  const table = withSetDefaults(parts.definitions.table(request.name), parts.env)
  requireFeature(call.identity, table.feature, `the table page ${table.name}`)
  const zone = zoneFor(request.timezone, parts.env)
  const { version: serverVersion, logs, missingShow } = await parts.client.capabilities(host, call)
  const circumstances = { serverVersion, logs, zone }
  const page = { host, table, circumstances, incomplete: incompleteBy(host, missingShow, table.requires) }
  const statement = build(table, circumstances)
  if (!statement) return { ...page, unavailable: tooOld(host, serverVersion) }
  const unavailable = await missingNeeds(parts.client, host, table, call)
  return unavailable ? { ...page, unavailable } : { ...page, statement }
}

/** Returns the maximum rows of a response or file, or undefined without a limit. */
export const rowCap = ({ env }: Parts): number | undefined => read(obeyed, env).SVC_TABLE_MAX_RESULT_ROWS

/** Returns the row limit, at most the cap, and the offset. Page length follows the capped limit. */
export const rowRange = (
  parts: Parts,
  { limit: requested, page, offset }: Pick<TableRequest, 'limit' | 'offset' | 'page'>,
) => {
  const cap = rowCap(parts)
  const limit = requested === undefined || cap === undefined ? (requested ?? cap) : Math.min(requested, cap)
  return { limit, offset: page === undefined || limit === undefined ? offset : (page - 1) * limit }
}

const obeyed = { SVC_TABLE_MAX_RESULT_ROWS: settings.SVC_TABLE_MAX_RESULT_ROWS }
