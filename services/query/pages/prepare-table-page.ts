import { z } from 'zod'
import { type CallContext, requireFeature } from '#proto/call.ts'
import type { TableRequest, UnavailableReason } from '#proto/query.ts'
import type { IncompleteReason } from '#proto/unavailable-reason.ts'
import { hasLookbackWindow } from '#proto/lookback.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { checkRequirements, createUnsupportedVersionReason, findUnavailableReason } from '../clickhouse/availability.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { toIncompleteReason } from '../clickhouse/show-privileges.ts'
import { settings } from '../config.ts'
import type { LoadedTable } from '../definitions/load.ts'
import { applyExcludedUsersDefault, resolveZone } from '../definitions/parameters.ts'
import type { TableStatementContext } from '../definitions/table-statement.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'

/** A table page on a host, whose rows have not been read yet. */
export interface TablePage {
  host: MonitoredHost
  table: LoadedTable
  circumstances: TableStatementContext
  incomplete: IncompleteReason | null
}

type PageRequest = Pick<TableRequest, 'hostKey' | 'name' | 'timezone'>
type Build = (table: LoadedTable, circumstances: TableStatementContext) => Statement | undefined

/** Returns the page with its statement, or why it is unavailable. Throws when the caller may not see it. */
export const prepareTablePage = async (
  parts: QueryHandlerDeps,
  request: PageRequest,
  call: CallContext,
  build: Build,
): Promise<TablePage & ({ statement: Statement } | { unavailable: UnavailableReason })> => {
  const host = parts.hosts.get(request.hostKey)
  const table = applyExcludedUsersDefault(parts.definitions.table(request.name), parts.env)
  requireFeature(call.identity, table.feature, `the table page ${table.name}`)
  const zone = resolveZone(request.timezone, parts.env)
  const { version: serverVersion, logs, missingShow } = await parts.client.capabilities(host, call)
  const circumstances = { serverVersion, logs, zone }
  const page = { host, table, circumstances, incomplete: toIncompleteReason(host, missingShow, table.requires) }
  const statement = build(table, circumstances)
  if (!statement) return { ...page, unavailable: createUnsupportedVersionReason(host, serverVersion) }
  const unavailable = await checkRequirements(parts.client, host, table, call)
  if (unavailable) return { ...page, unavailable }
  try {
    const served = await applyDefaultCluster(parts, host, table, call)
    return served === table
      ? { ...page, statement }
      : { ...page, table: served, statement: build(served, circumstances) ?? statement }
  } catch (error) {
    const reason = findUnavailableReason(parts.client, host, { requires: ['system.clusters'] }, error)
    if (!reason) throw error
    return { ...page, unavailable: reason }
  }
}

/**
 * Clusters of a host, the default one first: `default`, which the official images configure, else the largest one that
 * contains the host.
 */
const defaultClusterSql = `SELECT cluster FROM system.clusters GROUP BY cluster
ORDER BY cluster = 'default' DESC, max(is_local) DESC, count() DESC, cluster LIMIT 1`
const ClusterRows = z.array(z.tuple([z.string()])).max(1)

/** Sets the default of the page's cluster parameter to a cluster of the host. Returns other pages unchanged. */
const applyDefaultCluster = async (
  { client }: QueryHandlerDeps,
  host: MonitoredHost,
  table: LoadedTable,
  call: CallContext,
): Promise<LoadedTable> => {
  const isCluster = ({ name, default: value }: LoadedTable['parameters'][number]) => name === 'cluster' && value !== ''
  if (!table.parameters.some(isCluster)) return table
  const { rows } = await client.run(host, { what: 'default-cluster', sql: defaultClusterSql }, call)
  const [[cluster] = []] = ClusterRows.parse(rows)
  if (cluster === undefined) return table
  return {
    ...table,
    parameters: table.parameters.map((each) => (isCluster(each) ? { ...each, default: cluster } : each)),
  }
}

/** Returns the maximum rows of a response or file, or undefined without a limit. */
export const readMaxRows = ({ env }: QueryHandlerDeps): number | undefined =>
  parseSettings(rowCapSetting, env).SVC_TABLE_MAX_RESULT_ROWS

/** Maximum rows of a page of a log if the caller sets no limit. */
const defaultLogRows = 250

/** Returns the default row limit of a page; undefined for pages of the current state, which are returned as a whole. */
export const resolveDefaultLimit = (table: LoadedTable): number | undefined =>
  hasLookbackWindow(table) ? defaultLogRows : undefined

/** Returns the row limit, reduced to the cap, and the offset. A page number is converted with the reduced limit. */
export const resolveRowRange = (
  parts: QueryHandlerDeps,
  { limit: requested, page, offset }: Pick<TableRequest, 'limit' | 'offset' | 'page'>,
) => {
  const cap = readMaxRows(parts)
  const limit = requested === undefined || cap === undefined ? (requested ?? cap) : Math.min(requested, cap)
  return { limit, offset: page === undefined || limit === undefined ? offset : (page - 1) * limit }
}

const rowCapSetting = { SVC_TABLE_MAX_RESULT_ROWS: settings.SVC_TABLE_MAX_RESULT_ROWS }
