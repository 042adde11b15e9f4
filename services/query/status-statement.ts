import { z } from 'zod'
import { FleetMetrics, HostLoad, type HostStatus } from '#proto/query.ts'
import { hostFailure } from './clickhouse/failure.ts'
import { isOwn } from './clickhouse/own-statements.ts'
import type { Statement } from './clickhouse/statement.ts'
import type { MonitoredHost } from './hosts/host-list.ts'

/** Nobody waits longer for key figures. */
const maxSeconds = 10

const basics = ['version()', 'uptime()', 'hostName()', 'timezone()', 'toUnixTimestamp64Milli(now64(3))'].join(', ')

export interface Basics extends Omit<HostStatus, 'clockSkewMs'> {
  /** The host's clock. */
  nowMs: number
}

const BasicRow = z.tuple([z.string(), z.coerce.number(), z.string(), z.string(), z.coerce.number()])

export const readBasics = (host: MonitoredHost, rows: readonly (readonly unknown[])[]): Basics => {
  const row = BasicRow.safeParse(rows[0]?.slice(0, basicCount))
  if (!row.success) throw hostFailure(host, 'garbage')
  const [version, uptimeSeconds, hostname, timezone, nowMs] = row.data
  return { version, uptimeSeconds, hostname, timezone, nowMs }
}

const basicCount = 5

/** Where a figure can be read; the first that knows it counts, and tables that the user cannot see are left out. */
interface Source {
  table: string
  sql: string
}

const outsideSystem = "NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema')"
const metric = (name: string): Source => ({
  table: 'metrics',
  sql: `SELECT maxOrNull(value) FROM system.metrics WHERE metric = '${name}'`,
})
const asynchronous = (name: string): Source => ({
  table: 'asynchronous_metrics',
  sql: `SELECT maxOrNull(value) FROM system.asynchronous_metrics WHERE metric = '${name}'`,
})
/** Disks of object stores claim a size without meaning; local ones tell theirs. */
const disks = (expression: string): Source => ({
  table: 'disks',
  sql: `SELECT sumOrNull(${expression}) FROM system.disks WHERE lower(type) = 'local'`,
})

/** The key figures by name; each is one scalar subquery, so all of them are one statement. */
const sources = {
  databases: [{ table: 'databases', sql: `SELECT count() FROM system.databases WHERE name ${outsideSystem}` }],
  tables: [
    { table: 'tables', sql: `SELECT count() FROM system.tables WHERE database ${outsideSystem} AND NOT is_temporary` },
  ],
  runningQueries: [
    {
      table: 'processes',
      sql: 'SELECT count() FROM system.processes WHERE is_initial_query AND query_id != queryID()',
    },
  ],
  merges: [{ table: 'merges', sql: 'SELECT count() FROM system.merges' }],
  memoryUsedBytes: [asynchronous('MemoryResident'), metric('MemoryTracking')],
  memoryTotalBytes: [
    {
      table: 'asynchronous_metrics',
      sql: `SELECT minOrNull(value) FROM system.asynchronous_metrics
    WHERE metric IN ('OSMemoryTotal', 'CGroupMemoryTotal') AND value > 0`,
    },
  ],
  loadAverage: [asynchronous('LoadAverage1')],
  cpuCores: [
    {
      table: 'asynchronous_metrics',
      sql: `SELECT nullIf(countIf(match(metric, '^OSUserTimeCPU[0-9]+$')), 0) FROM system.asynchronous_metrics`,
    },
    {
      table: 'settings',
      sql: `SELECT toUInt64OrNull(extract(value, 'auto.([0-9]+)')) FROM system.settings WHERE name = 'max_threads'`,
    },
  ],
  diskUsedBytes: [disks('total_space - free_space')],
  diskTotalBytes: [disks('total_space')],
  readonlyReplicas: [metric('ReadonlyReplica')],
  maxReplicaDelaySeconds: [asynchronous('ReplicasMaxAbsoluteDelay')],
  // What people and programs asked; the product's own statements would be most of it on a quiet host.
  todayQueries: [
    {
      table: 'query_log',
      sql: `SELECT count() FROM system.query_log
    WHERE event_date = today() AND type != 'QueryStart' AND is_initial_query AND NOT ${isOwn}`,
    },
  ],
} as const satisfies Record<keyof FleetMetrics | 'todayQueries', readonly Source[]>

type Figure = keyof typeof sources

/** The figures of the metric bundle. */
export const fleetFigures = FleetMetrics.keyof().options
/** Those that are cheap enough to be asked of every host every few seconds. */
export const loadFigures = HostLoad.keyof().options

const scalar = (choices: readonly Source[], tables: ReadonlySet<string>): string => {
  const known = choices.filter((source) => tables.has(source.table)).map((source) => `(${source.sql})`)
  return known.length > 1 ? `coalesce(${known.join(', ')})` : (known[0] ?? 'NULL')
}

/** Basics and figures in one statement; a figure whose table the user cannot see is null. */
export const figuresStatement = (what: string, names: readonly Figure[], tables: ReadonlySet<string>): Statement => {
  const columns = [basics, ...names.map((name) => scalar(sources[name], tables))]
  return { what, maxSeconds, sql: `SELECT ${columns.join(',\n  ')}` }
}

/** What a host is, in one tiny statement whose text never changes. */
export const basicStatement = (what: string): Statement => figuresStatement(what, [], new Set())

const Figures = z.array(z.coerce.number().nullable())

/** The figures as they were asked for. */
export const readFigures = <N extends Figure>(
  host: MonitoredHost,
  names: readonly N[],
  rows: readonly (readonly unknown[])[],
): Record<N, number | null> => {
  const values = Figures.safeParse(rows[0]?.slice(basicCount))
  if (!values.success || values.data.length !== names.length) throw hostFailure(host, 'garbage')
  const named = names.map((name, index) => [name, values.data[index] ?? null])
  // Every name has its value.
  return Object.fromEntries(named) as Record<N, number | null>
}
