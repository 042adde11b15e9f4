import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { isBackground } from '#shared/admission/queue.ts'
import type { Environment } from '#shared/config/environment.ts'
import { quoteName } from '#shared/sql/statement-text.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { ResultRows } from './response.ts'
import {
  type HostCapabilities,
  LogColumnRows,
  buildLogColumnsStatement,
  openCapabilityCache,
  type TablePresence,
  buildRotatedLogExpressions,
} from './capabilities.ts'
import { parseSummaryHeader, createReuseCounter } from './cost.ts'
import { findClickhouseErrorCode, createHostError } from './failure.ts'
import type { HostBody } from './host-body.ts'
import { readHostClientLimits } from './limits.ts'
import { openResultCache } from './result-cache.ts'
import { openSharedRuns } from './shared-runs.ts'
import { resolveMaxSeconds, type Statement, type StreamFormat } from './statement.ts'
import { queryMissingShowPrivileges } from './show-privileges.ts'
import {
  type BufferedResult,
  openTransport,
  type QueryContext,
  computeRemainingCallMs,
  type TransportDeps,
} from './transport.ts'

type System = Pick<HostCapabilities, 'tables' | 'logs'>

/** Maximum number of distinct sets of tables to cache; most fleets have only a few. */
const maxSystems = 100

/** Returns a function that maps equal values to one object, so that caches keyed by it are shared between hosts. */
export const openSystemInterner = (): ((system: System) => System) => {
  const recent = new LRUCache<string, System>({ max: maxSystems })
  return (system) => {
    const key = [...[...system.tables].toSorted(), ...system.logs.values()].join('\n')
    const equal = recent.get(key) ?? system
    recent.set(key, equal)
    return equal
  }
}

/** Sent without settings, because the response says whether settings are allowed. */
const capabilityStatement: Statement = {
  what: 'capabilities',
  bare: true,
  short: true,
  maxSeconds: 10,
  sql: `SELECT
  version(),
  toUInt8(getSetting('readonly')),
  (SELECT groupArray(name) FROM system.tables WHERE database = 'system')`,
}

const CapabilityRows = z.tuple([z.tuple([z.string(), z.number(), z.array(z.string())])])

/** Module state is safe here: the function is pure and only reuses equal objects. */
const internSystem = openSystemInterner()

/** Loads the capabilities of a host with statements sent through `query`. */
const loadCapabilities = async (
  host: MonitoredHost,
  query: (statement: Statement) => Promise<Pick<ResultRows, 'rows'>>,
): Promise<HostCapabilities> => {
  const read = async <T>(statement: Statement, schema: z.ZodType<T>): Promise<T> => {
    const parsed = schema.safeParse((await query(statement)).rows)
    if (!parsed.success) throw createHostError(host, 'garbage')
    return parsed.data
  }
  const [[version, readonly, names]] = await read(capabilityStatement, CapabilityRows)
  const tables = new Set(names)
  const columnsStatement = buildLogColumnsStatement(version, tables)
  const logs = buildRotatedLogExpressions(tables, columnsStatement && (await read(columnsStatement, LogColumnRows)))
  return {
    version,
    readonly,
    missingShow: await queryMissingShowPrivileges(version, query),
    ...internSystem({ tables, logs }),
  }
}

/** Returns a statement that yields 1 or 0, and fails for a user without any privilege on the table. */
const existsStatement = (table: string): Statement => presenceStatement(`EXISTS TABLE ${quoted(table)}`)

/** Returns a statement that yields no rows, and fails when the table is missing or the user may not read it. */
const emptySelectStatement = (table: string): Statement => presenceStatement(`SELECT 1 FROM ${quoted(table)} LIMIT 0`)

const presenceStatement = (sql: string): Statement => ({ what: 'capabilities', maxSeconds: 10, sql })

const quoted = (table: string): string => {
  const [database = '', name = ''] = table.split('.')
  return `${quoteName(database)}.${quoteName(name)}`
}

/** A buffered result with its cost and the version of the host. */
export interface QueryResult extends BufferedResult {
  clickhouseVersion: string
}

/** A streamed result with the rows as sent by the host. Calling `body.leave()` early kills the statement. */
export interface StreamResult {
  queryId: string
  clickhouseVersion: string
  /** The `readonly` setting of the user's profile: with 1 the host may have quoted 64-bit integers. */
  readonly: number
  rowsRead: number
  bytesRead: number
  body: HostBody
}

/** The client of all monitored hosts. Failures are `ServiceError`s that name the host by its label. */
export interface DatabaseClient extends AsyncDisposable {
  run(host: MonitoredHost, statement: Statement, context: QueryContext): Promise<QueryResult>
  stream(host: MonitoredHost, statement: Statement, context: QueryContext, format?: StreamFormat): Promise<StreamResult>
  /** Runs a statement on the reserved connection, without queue and cache. */
  probe(host: MonitoredHost, statement: Statement, context: QueryContext, limitMs: number): Promise<ResultRows>
  capabilities(host: MonitoredHost, context: QueryContext): Promise<HostCapabilities>
  /** Returns the cached capabilities, however old; undefined if there are none. */
  known(host: MonitoredHost): HostCapabilities | undefined
  /** Returns whether a table is present, missing, or denied to the configured user. `table` is `database.table`. */
  presence(host: MonitoredHost, table: string, context: QueryContext): Promise<TablePresence>
  /** Drops the cached capabilities; the next query loads them again. */
  forget(host: MonitoredHost): void
  /** Closes all connections to a host. */
  release(host: MonitoredHost): void
}

const accessDenied = 497
const noSuchTable = 60
const noSuchDatabase = 81

export const openClient = ({ env, clock, ...rest }: TransportDeps): DatabaseClient => {
  const transport = openTransport({ env, clock, ...rest })
  const capabilityCache = openCapabilityCache(clock.elapsedMs)
  const capabilities = createCapabilityLoader(transport, capabilityCache, { env, clock })
  const runs = openSharedRuns<QueryResult>(createReuseCounter(rest.telemetry, 'shared'))
  const results = openResultCache<QueryResult>(clock.elapsedMs, createReuseCounter(rest.telemetry, 'cache'))

  const run = async (host: MonitoredHost, statement: Statement, context: QueryContext): Promise<QueryResult> => {
    const { version, readonly } = await capabilities(host, context)
    const perform = async (own: QueryContext, key?: string): Promise<QueryResult> => {
      const buffered = await transport.whole({ host, statement, context: own, readonly })
      const result = { ...buffered, clickhouseVersion: version }
      if (statement.cache && key !== undefined) results.put(key, result, buffered.size, statement.cache)
      return result
    }
    // Background statements do not repeat, and users must not wait for a run that yields to them.
    const isUnshared = statement.writes === true || isBackground(context.priority)
    if (!readHostClientLimits(env).cache || (isUnshared && !statement.cache)) return perform(context)
    const key = keyOf(host, statement)
    const cached = statement.cache && results.get(key)
    if (cached) return cached
    if (isUnshared) return perform(context, key)
    return runs.join(key, waiterOf(host, context, clock.elapsedMs()), (signal) =>
      perform(withoutDeadline(context, signal), key),
    )
  }

  return {
    run,
    capabilities,
    known: capabilityCache.known,
    forget: capabilityCache.forget,
    release: transport.release,
    async stream(host, statement, context, format = 'JSONEachRow') {
      const { version, readonly } = await capabilities(host, context)
      const { headers, ...response } = await transport.stream({ host, statement, context, readonly }, format)
      return { ...response, clickhouseVersion: version, readonly, ...parseSummaryHeader(headers) }
    },
    probe: (host, statement, context, limitMs) =>
      transport.reserved({ host, statement, context, readonly: capabilityCache.known(host)?.readonly ?? 1 }, limitMs),
    async presence(host, table, context) {
      const { tables } = await capabilities(host, context)
      if (table.startsWith('system.') && tables.has(table.slice('system.'.length))) return 'present'
      return capabilityCache.presence(host, table, () =>
        queryPresence(table, (statement) => run(host, statement, context)),
      )
    },
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  }
}

/** Returns a function that reads the capabilities of a host once for all requests that wait for them. */
const createCapabilityLoader = (
  transport: ReturnType<typeof openTransport>,
  cache: ReturnType<typeof openCapabilityCache>,
  { env, clock }: Pick<TransportDeps, 'env' | 'clock'>,
) => {
  const runs = openSharedRuns<HostCapabilities>()
  return (host: MonitoredHost, context: QueryContext): Promise<HostCapabilities> =>
    cache.of(host, () =>
      runs.join(identity(host), waiterOf(host, context, clock.elapsedMs()), async (signal) => {
        const request = { host, context: withoutDeadline(context, signal), readonly: 1 }
        return loadCapabilities(host, (statement) =>
          transport.reserved({ ...request, statement }, capabilitiesTimeoutMs(env)),
        )
      }),
    )
}

const capabilitiesTimeoutMs = (env: Environment): number =>
  resolveMaxSeconds(capabilityStatement, { ...readHostClientLimits(env), background: false }) * 1_000

/** Returns the signal, the time limit and the timeout error with which a caller waits for a shared run. */
const waiterOf = (host: MonitoredHost, context: QueryContext, nowMs: number) => ({
  signal: context.signal,
  limitMs: computeRemainingCallMs(context, nowMs),
  late: () => createHostError(host, 'timeout'),
})

const queryPresence = async (
  table: string,
  query: (statement: Statement) => Promise<QueryResult>,
): Promise<TablePresence> => {
  try {
    return (await query(existsStatement(table))).rows[0]?.[0] === 1 ? 'present' : 'missing'
  } catch (error) {
    // EXISTS requires SHOW TABLES. A user without it may still read a table such as `system.tables`.
    return findClickhouseErrorCode(error) === accessDenied ? trySelect(table, query) : failedPresence(error)
  }
}

const trySelect = async (
  table: string,
  query: (statement: Statement) => Promise<QueryResult>,
): Promise<TablePresence> => {
  try {
    await query(emptySelectStatement(table))
    return 'present'
  } catch (error) {
    return failedPresence(error)
  }
}

const failedPresence = (error: unknown): TablePresence => {
  const code = findClickhouseErrorCode(error)
  if (code === accessDenied) return 'denied'
  if (code === noSuchTable || code === noSuchDatabase) return 'missing'
  throw error
}

/** Removes the deadline: a shared run ends with its last caller or at the time limit of the statement. */
const withoutDeadline = (context: QueryContext, signal: AbortSignal): QueryContext => ({
  ...context,
  signal,
  deadline: Infinity,
})

/** Returns a key that changes when a label is reused for another server or user. */
const identity = (host: MonitoredHost): string => JSON.stringify([host.key, host.url.href, host.user])

/** Returns the cache key of a statement. Statements with equal keys have equal results. */
export const keyOf = (host: MonitoredHost, { sql, parameters, database, limits, session }: Statement): string =>
  JSON.stringify([identity(host), sql, parameters, database, limits, session])
