import type { Handlers } from '#proto/contract.ts'
import type { HostStatus, query, FleetMetrics, Overview, Unavailable } from '#proto/query.ts'
import { deniedTable, missingNeeds, unavailableBy } from '../clickhouse/availability.ts'
import type { Capabilities } from '../clickhouse/capabilities.ts'
import type { Answer, DatabaseClient } from '../clickhouse/client.ts'
import type { Asking } from '../clickhouse/transport.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { Parts } from '../parts.ts'
import {
  basicStatement,
  fleetFigures,
  readBasics,
  type Figure,
  figuresStatement,
  readFigures,
  tablesBehind,
} from './status-statement.ts'

/** Asks the host now; one statement with or without the metric bundle. */
export const hostStatus = (parts: Parts): Handlers<typeof query>['hostStatus'] => {
  const askFigures = openFigures(parts.client)
  const basics = basicStatement('host-status')
  return async ({ hostKey, fleet }, call) => {
    const host = parts.hosts.get(hostKey)
    if (!fleet) {
      const answer = await parts.client.run(host, basics, call)
      return { ...statusOf(host, answer, parts.clock.now()), metrics: null }
    }
    const { answer, figures } = await askFigures({ host, what: 'host-status', names: fleetFigures, call })
    return { ...statusOf(host, answer, parts.clock.now()), metrics: figures }
  }
}

/** Basics of an answer that has just arrived. */
export const statusOf = (host: MonitoredHost, answer: Answer, nowMs: number): HostStatus => {
  const { version, uptimeSeconds, hostname, timezone, nowMs: theirNowMs } = readBasics(host, answer.rows)
  const clockSkewMs = Math.round(theirNowMs - (nowMs - answer.durationMs / 2))
  return { version, uptimeSeconds, hostname, timezone, clockSkewMs }
}

/** What the last probes found. */
export const hostStates =
  (parts: Parts): Handlers<typeof query>['hostStates'] =>
  async () =>
    parts.probe.states()

/** The configured hosts as callers may see them. */
export const hosts =
  (parts: Parts): Handlers<typeof query>['hosts'] =>
  async () =>
    parts.hosts
      .list()
      .map(({ id, key, name, url, group, tags }) => ({ id, key, name, host: url.host, group, tags: [...tags] }))

const names = [...fleetFigures, 'todayQueries'] as const

/** The key figures of one host, in one statement. */
export const overview = (parts: Parts): Handlers<typeof query>['overview'] => {
  const askFigures = openFigures(parts.client)
  return async ({ hostKey }, call) => {
    const host = parts.hosts.get(hostKey)
    const { answer, figures, unavailable } = await askFigures({ host, what: 'overview', names, call })
    const { todayQueries, ...metrics } = figures
    return {
      runningQueries: metrics.runningQueries,
      todayQueries,
      databaseCount: metrics.databases,
      tableCount: metrics.tables,
      diskUsage: diskUsage(metrics),
      hostInfo: statusOf(host, answer, parts.clock.now()),
      metrics,
      unavailable: byName(unavailable),
    }
  }
}

const diskUsage = ({ diskUsedBytes, diskTotalBytes }: FleetMetrics): Overview['diskUsage'] => {
  if (diskUsedBytes === null || diskTotalBytes === null || diskTotalBytes === 0) return null
  return { usedBytes: diskUsedBytes, totalBytes: diskTotalBytes, percent: (diskUsedBytes / diskTotalBytes) * 100 }
}

/** Some are named otherwise outside the metrics. */
const otherNames: readonly (readonly [name: string, figure: Figure])[] = [
  ['databaseCount', 'databases'],
  ['tableCount', 'tables'],
  ['diskUsage', 'diskUsedBytes'],
]

const byName = (reasons: ReadonlyMap<Figure, Unavailable>): Overview['unavailable'] => {
  const others = otherNames.map(([name, figure]) => [name, reasons.get(figure)] as const)
  return Object.fromEntries([...reasons, ...others].flatMap(([name, reason]) => (reason ? [[name, reason]] : [])))
}

/** Figures as a host told them. */
interface ToldFigures<N extends Figure> {
  answer: Answer
  figures: Record<N, number | null>
  /** Why figures are null whose tables the user may not read or the host does not have. */
  unavailable: ReadonlyMap<Figure, Unavailable>
}

interface Question<N extends Figure> {
  host: MonitoredHost
  what: string
  names: readonly N[]
  call: Asking
}

/** Tables of `system` that everybody may read and that are shown to nobody without a right. */
const openToAll = ['databases', 'tables', 'settings']

/** Why tables of `system` are left out, by their names. */
type Refused = Map<string, Unavailable>

/** Asks for figures in one statement; tables that a host shows but keeps from the user are left out of it. */
const openFigures = (client: DatabaseClient) => {
  // Remembered as long as what the host was found to have, so that refusals do not fill its error counters.
  const refusals = new WeakMap<Capabilities, Refused>()

  return async <N extends Figure>(question: Question<N>): Promise<ToldFigures<N>> => {
    const { host, names, call } = question
    const capabilities = await client.capabilities(host, call)
    const refused = refusals.get(capabilities) ?? new Map<string, Unavailable>()
    refusals.set(capabilities, refused)
    const { answer, readable } = await askReadable(client, question, capabilities.tables, refused)
    const untold = names.filter((name) => !tablesBehind(name).some((table) => readable.has(table)))
    const reasons = await Promise.all(untold.map((name) => reasonOf(client, host, name, refused, call)))
    const unavailable = untold.flatMap((name, index) => (reasons[index] ? [[name, reasons[index]] as const] : []))
    return { answer, figures: readFigures(host, names, answer.rows), unavailable: new Map(unavailable) }
  }
}

/** One statement, and one more for each table that turns out to be refused. */
const askReadable = async <N extends Figure>(
  client: DatabaseClient,
  { host, what, names, call }: Question<N>,
  tables: ReadonlySet<string>,
  refused: Refused,
): Promise<{ answer: Answer; readable: ReadonlySet<string> }> => {
  for (;;) {
    const readable = new Set([...tables, ...openToAll].filter((table) => !refused.has(table)))
    try {
      return { answer: await client.run(host, figuresStatement(what, names, readable), call), readable }
    } catch (error) {
      const table = deniedTable(error)
      const reason = unavailableBy(client, host, { requires: [`system.${table}`] }, error)
      if (table === undefined || !reason || !readable.has(table)) throw error
      refused.set(table, reason)
    }
  }
}

const reasonOf = async (
  client: DatabaseClient,
  host: MonitoredHost,
  name: Figure,
  refused: Refused,
  call: Asking,
): Promise<Unavailable | null> => {
  const [table = ''] = tablesBehind(name)
  return refused.get(table) ?? missingNeeds(client, host, { requires: [`system.${table}`] }, call)
}
