import { type Call, requireFeature } from '#proto/call.ts'
import type { TableRequest, Unavailable } from '#proto/query.ts'
import { read } from '#shared/config/setting.ts'
import { missingNeeds, tooOld } from '../clickhouse/availability.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { settings } from '../config.ts'
import type { LoadedTable } from '../definitions/load.ts'
import { withSetDefaults, zoneFor } from '../definitions/parameters.ts'
import type { TableCircumstances } from '../definitions/table-statement.ts'
import type { Parts } from '../parts.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'

/** A table page on a host, before anything of it was read. */
export interface Page {
  host: MonitoredHost
  table: LoadedTable
  circumstances: TableCircumstances
}

type Asked = Pick<TableRequest, 'hostKey' | 'name' | 'timezone'>
type Build = (table: LoadedTable, circumstances: TableCircumstances) => Statement | undefined

/** The page and its statement, or why the host cannot answer. Refuses who may not see the page. */
export const openPage = async (
  parts: Parts,
  asked: Asked,
  call: Call,
  build: Build,
): Promise<Page & ({ statement: Statement } | { unavailable: Unavailable })> => {
  const host = parts.hosts.get(asked.hostKey)
  const table = withSetDefaults(parts.definitions.table(asked.name), parts.env)
  requireFeature(call.identity, table.feature, `the table page ${table.name}`)
  const zone = zoneFor(asked.timezone, parts.env)
  const { version: serverVersion, logs } = await parts.client.capabilities(host, call)
  const circumstances = { serverVersion, logs, zone }
  const page = { host, table, circumstances }
  const statement = build(table, circumstances)
  if (!statement) return { ...page, unavailable: tooOld(host, serverVersion) }
  const unavailable = await missingNeeds(parts.client, host, table, call)
  return unavailable ? { ...page, unavailable } : { ...page, statement }
}

/** Most rows of any answer or file; undefined where the settings have no cap. */
export const rowCap = ({ env }: Parts): number | undefined => read(obeyed, env).SVC_TABLE_MAX_RESULT_ROWS

/** The asked number of rows, never above the cap, and how many are before them: pages are as long as the cap lets them be. */
export const rowRange = (
  parts: Parts,
  { limit: given, page, offset }: Pick<TableRequest, 'limit' | 'offset' | 'page'>,
) => {
  const cap = rowCap(parts)
  const limit = given === undefined || cap === undefined ? (given ?? cap) : Math.min(given, cap)
  return { limit, offset: page === undefined || limit === undefined ? offset : (page - 1) * limit }
}

const obeyed = { SVC_TABLE_MAX_RESULT_ROWS: settings.SVC_TABLE_MAX_RESULT_ROWS }
