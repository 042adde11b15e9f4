import type { ServiceHandlers } from '#proto/contract.ts'
import type { HostStatus, query, FleetMetrics, HostOverview, UnavailableReason } from '#proto/query.ts'
import { findDeniedTable, checkRequirements, findUnavailableReason } from '../clickhouse/availability.ts'
import type { HostCapabilities } from '../clickhouse/capabilities.ts'
import { toIncompleteReason } from '../clickhouse/show-privileges.ts'
import type { QueryResult, DatabaseClient } from '../clickhouse/client.ts'
import { readHostClientLimits } from '../clickhouse/limits.ts'
import type { ResultCacheClass } from '../clickhouse/result-cache.ts'
import type { QueryContext } from '../clickhouse/transport.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import {
  buildBasicsStatement,
  fleetMetricNames,
  loadMetricNames,
  readBasics,
  type HostMetricName,
  buildMetricsStatement,
  readMetrics,
  findMetricTables,
} from './status-statement.ts'

/** Returns the handler that queries the status of a host, optionally with its key metrics, in one statement. */
export const createHostStatusHandler = (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['hostStatus'] => {
  const { queryFigures } = createMetricsReader(parts.client)
  const basics = buildBasicsStatement('host-status')
  return async ({ hostKey, fleet }, call) => {
    const host = parts.hosts.get(hostKey)
    if (!fleet) {
      const answer = await parts.client.run(host, basics, call)
      return { ...toHostStatus(host, answer, parts.clock.now()), metrics: null }
    }
    const { answer, figures } = await queryFigures({ host, what: 'host-status', names: fleetMetricNames, call })
    return { ...toHostStatus(host, answer, parts.clock.now()), metrics: figures }
  }
}

/** Returns the status of a host from a query result that arrived at `nowMs`. */
export const toHostStatus = (host: MonitoredHost, answer: QueryResult, nowMs: number): HostStatus => {
  const { version, uptimeSeconds, hostname, timezone, nowMs: hostNowMs } = readBasics(host, answer.rows)
  const clockSkewMs = Math.round(hostNowMs - (nowMs - answer.durationMs / 2))
  return { version, uptimeSeconds, hostname, timezone, clockSkewMs }
}

/** Returns the handler for the last probed state of every host. */
export const createHostStatesHandler =
  (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['hostStates'] =>
  async () =>
    parts.probe.states()

/** Returns the handler that lists the configured hosts, without URLs and credentials. */
export const createHostsHandler =
  (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['hosts'] =>
  async () =>
    parts.hosts.list().map(({ id, key, name, url, group, tags, managedId }) => ({
      id,
      key,
      name,
      host: url.host,
      group,
      tags: [...tags],
      ...(managedId !== undefined && { managedId }),
    }))

/** Metrics that change slowly and cost more to read than the load. */
const countNames = ['databases', 'tables'] as const
const allNames = [...fleetMetricNames, 'todayQueries'] as const

/** Returns the handler for the key metrics of a host. */
export const createOverviewHandler = (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['overview'] => {
  const reader = createMetricsReader(parts.client)
  const readNew = async <N extends HostMetricName>(request: FiguresRequest<N>) => {
    const { answer, ...read } = await reader.queryFigures(request)
    return { hostInfo: toHostStatus(request.host, answer, parts.clock.now()), ...read }
  }
  const readLoad = async (host: MonitoredHost, call: QueryContext) => {
    const request = { host, what: 'overview', names: loadMetricNames, call }
    const probed = findRecentProbe(parts, host.key)
    if (!probed) return readNew(request)
    const load = reader.explainFigures(request, probed.load, await parts.client.capabilities(host, call))
    return { hostInfo: probed.status, ...(await load) }
  }
  /**
   * Reads the load unless a probe is recent, the counts every two minutes, the queries of the day every five, and the
   * number of cores every hour.
   */
  const readParts = async (host: MonitoredHost, call: QueryContext) => {
    const request = { host, what: 'overview', call }
    const [{ hostInfo, ...load }, counts, day, machine] = await Promise.all([
      readLoad(host, call),
      reader.queryFigures({ ...request, names: countNames, cache: 'historical' }),
      reader.queryFigures({ ...request, names: ['todayQueries'], cache: 'costly' }),
      reader.queryFigures({ ...request, names: ['cpuCores'], cache: 'constant' }),
    ])
    return {
      hostInfo,
      figures: { ...load.figures, ...counts.figures, ...day.figures, ...machine.figures },
      unavailable: new Map([load, counts, day, machine].flatMap((read) => [...read.unavailable])),
    }
  }
  return async ({ hostKey, own }, call) => {
    const host = parts.hosts.get(hostKey)
    const [{ hostInfo, figures, unavailable }, withOwn] = await Promise.all([
      readHostClientLimits(parts.env).cache
        ? readParts(host, call)
        : readNew({ host, what: 'overview', names: allNames, call }),
      own ? readWithOwn(reader, host, call) : {},
    ])
    const { todayQueries, ...metrics } = figures
    return {
      runningQueries: metrics.runningQueries,
      todayQueries,
      ...withOwn,
      databaseCount: metrics.databases,
      tableCount: metrics.tables,
      diskUsage: diskUsage(metrics),
      hostInfo,
      metrics,
      unavailable: byName(unavailable),
    }
  }
}

/** Reads the numbers of queries that include those of Watchhouse itself. */
const readWithOwn = async (reader: MetricsReader, host: MonitoredHost, call: QueryContext) => {
  const names = ['allRunningQueries', 'allTodayQueries'] as const
  const { figures } = await reader.queryFigures({ host, what: 'overview', call, names, cache: 'standard' })
  return { runningQueries: figures.allRunningQueries, todayQueries: figures.allTodayQueries }
}

/** Maximum age of a probe that replaces a statement. */
const maxProbeAgeMs = 10_000

const findRecentProbe = ({ probe, clock }: QueryHandlerDeps, hostKey: string) => {
  const { state, hostname, timezone, load, checkedMs } = probe.known(hostKey)
  const { version, uptimeSeconds } = state
  const ageMs = clock.elapsedMs() - (checkedMs ?? Number.NEGATIVE_INFINITY)
  if (ageMs > maxProbeAgeMs || load === null || version === null || uptimeSeconds === null) return undefined
  if (hostname === null || timezone === null) return undefined
  const uptimeNow = uptimeSeconds + Math.floor(ageMs / 1_000)
  return { load, status: { version, uptimeSeconds: uptimeNow, hostname, timezone, clockSkewMs: probe.skewMs(hostKey) } }
}

const diskUsage = ({ diskUsedBytes, diskTotalBytes }: FleetMetrics): HostOverview['diskUsage'] => {
  if (diskUsedBytes === null || diskTotalBytes === null || diskTotalBytes === 0) return null
  return { usedBytes: diskUsedBytes, totalBytes: diskTotalBytes, percent: (diskUsedBytes / diskTotalBytes) * 100 }
}

/** Metrics that have another name in the overview. */
const otherNames: readonly (readonly [name: string, figure: HostMetricName])[] = [
  ['databaseCount', 'databases'],
  ['tableCount', 'tables'],
  ['diskUsage', 'diskUsedBytes'],
]

const byName = (reasons: ReadonlyMap<HostMetricName, UnavailableReason>): HostOverview['unavailable'] => {
  const others = otherNames.map(([name, figure]) => [name, reasons.get(figure)] as const)
  return Object.fromEntries([...reasons, ...others].flatMap(([name, reason]) => (reason ? [[name, reason]] : [])))
}

interface FiguresResult<N extends HostMetricName> {
  figures: Record<N, number | null>
  /** The reason for each metric that is null because its tables are unreadable or missing. */
  unavailable: ReadonlyMap<HostMetricName, UnavailableReason>
}

interface FiguresRequest<N extends HostMetricName> {
  host: MonitoredHost
  what: string
  names: readonly N[]
  call: QueryContext
  cache?: ResultCacheClass
}

/** Tables of `system` that every user can read, even if `system.tables` does not list them for that user. */
const alwaysReadable = ['databases', 'tables', 'settings']

/** The unavailable reasons of unreadable `system` tables, by table name. */
type DeniedTables = Map<string, UnavailableReason>

type MetricsReader = ReturnType<typeof createMetricsReader>

/** Returns functions that read metrics in one statement, without tables that the user may not read. */
const createMetricsReader = (client: DatabaseClient) => {
  // Denials are cached as long as the capabilities, so that repeated denials do not raise the host's error counters.
  const denials = new WeakMap<HostCapabilities, DeniedTables>()
  const findDenied = (capabilities: HostCapabilities): DeniedTables => {
    const denied = denials.get(capabilities) ?? new Map<string, UnavailableReason>()
    denials.set(capabilities, denied)
    return denied
  }

  /**
   * Adds the reasons for null values. If the host hides rows of a table, counts of that table become null, because they
   * would look like counts of all rows.
   */
  const explainFigures = async <N extends HostMetricName>(
    { host, names, call }: FiguresRequest<N>,
    values: Record<N, number | null>,
    capabilities: HostCapabilities,
  ): Promise<FiguresResult<N>> => {
    const denied = findDenied(capabilities)
    const readable = listReadable(capabilities, denied)
    const hidden = new Map(names.flatMap((name) => hiddenFigure(host, name, capabilities)))
    const missing = names.filter((name) => !findMetricTables(name).some((table) => readable.has(table)))
    const reasons = await Promise.all(missing.map((name) => reasonOf(client, host, name, denied, call)))
    const unavailable = missing.flatMap((name, index) => (reasons[index] ? [[name, reasons[index]] as const] : []))
    const figures = { ...values, ...Object.fromEntries([...hidden.keys()].map((name) => [name, null])) }
    return { figures, unavailable: new Map([...hidden, ...unavailable]) }
  }

  const queryFigures = async <N extends HostMetricName>(
    request: FiguresRequest<N>,
  ): Promise<FiguresResult<N> & { answer: QueryResult }> => {
    const { host, names, call } = request
    const capabilities = await client.capabilities(host, call)
    const answer = await queryReadable(client, request, capabilities, findDenied(capabilities))
    return { answer, ...(await explainFigures(request, readMetrics(host, names, answer.rows), capabilities)) }
  }
  return { explainFigures, queryFigures }
}

const listReadable = ({ tables }: HostCapabilities, denied: DeniedTables): ReadonlySet<string> =>
  new Set([...tables, ...alwaysReadable].filter((table) => !denied.has(table)))

const hiddenFigure = (
  host: MonitoredHost,
  name: HostMetricName,
  { missingShow }: HostCapabilities,
): (readonly [HostMetricName, UnavailableReason])[] => {
  const incomplete = toIncompleteReason(host, missingShow, findMetricTables(name))
  return incomplete ? [[name, { reason: 'permission', missingTables: [], ...incomplete }]] : []
}

/** Runs the statement. Each time the host denies access to a table, retries without that table. */
const queryReadable = async <N extends HostMetricName>(
  client: DatabaseClient,
  { host, what, names, call, cache }: FiguresRequest<N>,
  capabilities: HostCapabilities,
  denied: DeniedTables,
): Promise<QueryResult> => {
  for (;;) {
    const readable = listReadable(capabilities, denied)
    try {
      return await client.run(host, { ...buildMetricsStatement(what, names, readable), ...(cache && { cache }) }, call)
    } catch (error) {
      const table = findDeniedTable(error)
      const reason = findUnavailableReason(client, host, { requires: [`system.${table}`] }, error)
      if (table === undefined || !reason || !readable.has(table)) throw error
      denied.set(table, reason)
    }
  }
}

const reasonOf = async (
  client: DatabaseClient,
  host: MonitoredHost,
  name: HostMetricName,
  denied: DeniedTables,
  call: QueryContext,
): Promise<UnavailableReason | null> => {
  const [table = ''] = findMetricTables(name)
  return denied.get(table) ?? checkRequirements(client, host, { requires: [`system.${table}`] }, call)
}
