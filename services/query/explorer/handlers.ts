import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import type { ServiceHandlers, Service } from '#proto/contract.ts'
import {
  type explorerMethods,
  type TableUser,
  TableUser as UserRow,
  TableQueryRecord,
  type TableUsage,
} from '#proto/explorer.ts'
import type { query } from '#proto/query.ts'
import type { UnavailableReason } from '#proto/unavailable-reason.ts'
import { quoteName } from '#shared/sql/statement-text.ts'
import { resolveAnalysisScope } from '../analysis/analysis-window.ts'
import { readRecords } from '../analysis/read-records.ts'
import { findUnavailableReason } from '../clickhouse/availability.ts'
import { createHostError } from '../clickhouse/failure.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { startConsoleRun } from '../console/start-run.ts'
import { openRunRegistry } from '../console/run-registry.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import { readDependencies } from './read-dependencies.ts'
import { type HostContext, readView, type ViewResult, findMissingObjectError } from './read-view.ts'
import * as views from './views.ts'
import type { ExplorerQuery } from './views.ts'

const Row = z.object({ statement: z.string() })

/** Reads the DDL of a table or a database, formatted by the host. */
const readDdl = async (
  context: HostContext,
  named: { database: string; table?: string | undefined },
): Promise<{ detail: { ddl: string } | null; unavailable: UnavailableReason | null }> => {
  const { parts, host, call } = context
  const { database, table } = named
  const what =
    table === undefined ? `DATABASE ${quoteName(database)}` : `TABLE ${quoteName(database)}.${quoteName(table)}`
  const statement = { what: 'explorer/ddl', cache: 'realtime' as const, sql: `SHOW CREATE ${what}` }
  try {
    const [row] = readRecords(host, Row, await parts.client.run(host, statement, call))
    return { detail: row ? { ddl: row.statement } : null, unavailable: null }
  } catch (error) {
    const unavailable = findUnavailableReason(parts.client, host, { requires: [] }, error)
    if (unavailable) return { detail: null, unavailable }
    throw (await findMissingObjectError(context, named, error)) ?? error
  }
}

/** The timeout of a table preview, in seconds. */
const previewSeconds = 10
const maxPreviewBytes = 8 * 1024 * 1024

/** Returns the handlers that read databases, tables and their details. */
export const createExplorerHandlers = (parts: QueryHandlerDeps): ServiceHandlers<Service<typeof explorerMethods>> => {
  const running = openRunRegistry()
  const contextFor = (hostKey: string, call: CallContext) => ({ parts, host: parts.hosts.get(hostKey), call })

  return {
    exploreDatabases: ({ hostKey }, call) => readView(contextFor(hostKey, call), views.databasesView, {}),
    exploreTables: ({ hostKey, database, search = '' }, call) =>
      readView(contextFor(hostKey, call), views.tablesView, { database }, { search }),
    exploreTable: async ({ hostKey, ...named }, call) =>
      single(await readView(contextFor(hostKey, call), views.tableView, named)),
    exploreColumns: ({ hostKey, ...named }, call) => readView(contextFor(hostKey, call), views.columnsView, named),
    exploreDdl: ({ hostKey, ...named }, call) => readDdl(contextFor(hostKey, call), named),
    exploreSkipIndexes: ({ hostKey, ...named }, call) =>
      readView(contextFor(hostKey, call), views.skipIndexesView, named),
    exploreProjections: async ({ hostKey, ...named }, call) => {
      const context = contextFor(hostKey, call)
      const { tables } = await parts.client.capabilities(context.host, call)
      return readView(context, tables.has('projections') ? views.projectionsView : views.partProjectionsView, named)
    },
    exploreParts: ({ hostKey, inactive, limit, ...named }, call) =>
      readView(contextFor(hostKey, call), { ...views.partsView, limit }, named, { inactive }),
    exploreDependencies: ({ hostKey, ...named }, call) => readDependencies(contextFor(hostKey, call), named),
    exploreUsage: async ({ hostKey, lastHours, ...named }, call) => {
      const context = contextFor(hostKey, call)
      const { scope } = await resolveAnalysisScope(parts, context.host, { lastHours }, call)
      const { rows, unavailable } = await readView(
        context,
        usage,
        named,
        loggedNames(named.database, named.table),
        scope,
      )
      return { detail: unavailable ? null : totalUsage(rows), unavailable }
    },
    exploreQueries: async ({ hostKey, lastHours, limit, ...named }, call) => {
      const context = contextFor(hostKey, call)
      const { scope } = await resolveAnalysisScope(parts, context.host, { lastHours }, call)
      return readView(context, { ...queries, limit }, named, loggedNames(named.database, named.table), scope)
    },
    previewTable: async ({ hostKey, limit, ...named }, call) => {
      const query = `SELECT * FROM ${quoteName(named.database)}.${quoteName(named.table)}`
      const bounds = { maxRows: limit, maxBytes: maxPreviewBytes, maxSeconds: previewSeconds }
      try {
        return await startConsoleRun(parts, running, { hostKey, query, ...bounds, format: 'json' }, call)
      } catch (error) {
        throw (await findMissingObjectError(contextFor(hostKey, call), named, error)) ?? error
      }
    },
  }
}

const single = <R>({ rows: [row], unavailable }: ViewResult<R>) => ({ detail: row ?? null, unavailable })

/** Condition for inner tables of materialized views. They are omitted, because queries read the view. */
const isInner = "startsWith(name, '.inner.') OR startsWith(name, '.inner_id.')"

const statement = (limit: number, search = ''): Statement => ({
  what: 'database-tables',
  cache: 'standard',
  sql: `SELECT database, name, engine, total_rows
FROM system.tables
WHERE database NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema') AND NOT is_temporary AND NOT (${isInner})
  AND positionCaseInsensitiveUTF8(concat(database, '.', name), {search:String}) > 0
ORDER BY total_rows DESC NULLS LAST, database, name
LIMIT ${limit}`,
  parameters: { search },
})

const Rows = z.array(z.tuple([z.string(), z.string(), z.string(), z.coerce.number().nullable()]))

/** Returns the handler that lists the largest tables outside the system databases. */
export const createDatabaseTablesHandler =
  (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['databaseTables'] =>
  async ({ hostKey, limit, search }, call) => {
    const host = parts.hosts.get(hostKey)
    const rows = Rows.safeParse((await parts.client.run(host, statement(limit, search), call)).rows)
    if (!rows.success) throw createHostError(host, 'garbage')
    return rows.data.map(([database, table, engine, totalRows]) => ({ database, table, engine, totalRows }))
  }

/** Maximum length of a statement in a list, in characters. */
const listedCharacters = 2_000

/** Condition for queries that use a table, without those that only read its definition. Logs quote names if needed. */
const usesTable = `log.type != 'QueryStart' AND log.is_initial_query AND log.query_kind NOT IN ('Show', 'Describe', 'Explain')
  AND (has(log.tables, {full_name:String}) OR has(log.tables, {quoted_name:String}))`

/** Returns the parameters of `usesTable`. */
const loggedNames = (database: string, table: string): { full_name: string; quoted_name: string } => ({
  full_name: [database, table].join('.'),
  quoted_name: [database, table].map((name) => (/^[A-Za-z_]\w*$/.test(name) ? name : quoteName(name))).join('.'),
})

/** The query for the usage of a table, by user. */
const usage = {
  what: 'usage',
  requires: ['system.query_log'],
  limit: 1_000,
  sql: `SELECT
  toString(log.user) AS user,
  count() AS queries,
  countIf(log.query_kind = 'Select') AS reads,
  countIf(log.query_kind IN ('Insert', 'AsyncInsertFlush')) AS writes,
  countIf(log.type != 'QueryFinish') AS errors,
  countIf(log.event_time >= $until - INTERVAL 1 DAY) AS queriesLastDay,
  sum(log.query_duration_ms) AS totalMs,
  sum(log.read_rows) AS readRows,
  sum(log.read_bytes) AS readBytes,
  sum(log.written_rows) AS writtenRows,
  if(reads > 0, maxIf($ms(log.event_time), log.query_kind = 'Select'), NULL) AS lastReadMs,
  if(writes > 0, maxIf($ms(log.event_time), log.query_kind IN ('Insert', 'AsyncInsertFlush')), NULL) AS lastWriteMs
FROM $log(query_log) AS log
WHERE $window AND ${usesTable}
GROUP BY log.user
ORDER BY queries DESC, user`,
  row: UserRow,
} satisfies ExplorerQuery<z.ZodType>

/** The query for the latest queries that use a table. */
const queries = {
  what: 'query-log',
  requires: ['system.query_log'],
  limit: 100,
  sql: `SELECT
  log.query_id AS queryId,
  toString(log.user) AS user,
  toString(log.query_kind) AS kind,
  toBool(log.type != 'QueryFinish') AS failed,
  $ms(log.event_time_microseconds) AS endedMs,
  log.query_duration_ms AS durationMs,
  log.read_rows AS readRows,
  log.read_bytes AS readBytes,
  log.written_rows AS writtenRows,
  log.memory_usage AS memoryBytes,
  substringUTF8(normalizeQuery(log.query), 1, ${listedCharacters}) AS query,
  toString(log.normalized_query_hash) AS fingerprint
FROM $log(query_log) AS log
WHERE $window AND ${usesTable}
ORDER BY endedMs DESC, queryId`,
  row: TableQueryRecord,
} satisfies ExplorerQuery<z.ZodType>

/** Sums the usage of all users. */
const totalUsage = (users: readonly TableUser[]): z.input<typeof TableUsage> => {
  const sum = (figure: (user: TableUser) => number): number => users.reduce((total, user) => total + figure(user), 0)
  const latest = (time: (user: TableUser) => number | null): number | null =>
    users.reduce<number | null>((last, user) => {
      const at = time(user)
      return at === null ? last : Math.max(at, last ?? at)
    }, null)
  return {
    queries: sum((user) => user.queries),
    reads: sum((user) => user.reads),
    writes: sum((user) => user.writes),
    errors: sum((user) => user.errors),
    queriesLastDay: sum((user) => user.queriesLastDay),
    totalMs: sum((user) => user.totalMs),
    readRows: sum((user) => user.readRows),
    readBytes: sum((user) => user.readBytes),
    writtenRows: sum((user) => user.writtenRows),
    lastReadMs: latest((user) => user.lastReadMs),
    lastWriteMs: latest((user) => user.lastWriteMs),
    users: [...users],
  }
}
