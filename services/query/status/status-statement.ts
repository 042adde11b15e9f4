import { z } from 'zod'
import { FleetMetrics, HostLoad, type HostStatus } from '#proto/query.ts'
import { isOwn } from '#shared/sql/own-statements.ts'
import { hostFailure } from '../clickhouse/failure.ts'
import type { Statement } from '../clickhouse/statement.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'

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

/** Where a figure can be read, as an aggregate over rows of a table of `system`. */
interface Source {
  table: string
  where?: string
  value: string
}

const outsideSystem = "NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema')"
const metric = (name: string): Source => ({
  table: 'metrics',
  value: `toFloat64(maxOrNullIf(value, metric = '${name}'))`,
})
const asynchronous = (...names: string[]): Source => ({
  table: 'asynchronous_metrics',
  value: names.map((name) => `maxOrNullIf(value, metric = '${name}')`).join(' + '),
})
/** Disks of object stores claim a size without meaning; local ones tell theirs. */
const disks = (expression: string): Source => ({
  table: 'disks',
  value: `sumOrNullIf(${expression}, lower(type) = 'local')`,
})

/** The figures by name. Of several sources the first that knows it counts; tables that the user cannot see are left out. */
const sources = {
  databases: [{ table: 'databases', value: `countIf(name ${outsideSystem})` }],
  tables: [{ table: 'tables', where: `database ${outsideSystem}`, value: 'countIf(NOT is_temporary)' }],
  runningQueries: [{ table: 'processes', value: 'countIf(is_initial_query AND query_id != queryID())' }],
  merges: [{ table: 'merges', value: 'count()' }],
  memoryUsedBytes: [asynchronous('MemoryResident'), metric('MemoryTracking')],
  memoryTotalBytes: [
    {
      table: 'asynchronous_metrics',
      value: "minOrNullIf(value, metric IN ('OSMemoryTotal', 'CGroupMemoryTotal') AND value > 0)",
    },
  ],
  loadAverage: [asynchronous('LoadAverage1')],
  cpuUsage: [asynchronous('OSUserTimeNormalized', 'OSSystemTimeNormalized')],
  cpuCores: [
    { table: 'asynchronous_metrics', value: "nullIf(countIf(match(metric, '^OSUserTimeCPU[0-9]+$')), 0)" },
    {
      table: 'settings',
      where: "name = 'max_threads'",
      value: "toUInt64OrNull(extract(any(value), 'auto.([0-9]+)'))",
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
      where: `event_date = today() AND type != 'QueryStart' AND is_initial_query AND NOT ${isOwn}`,
      value: 'count()',
    },
  ],
} as const satisfies Record<keyof FleetMetrics | 'todayQueries', readonly Source[]>

export type Figure = keyof typeof sources

/** The tables of `system` that a figure can be read from, the preferred one first. */
export const tablesBehind = (name: Figure): string[] => sources[name].map(({ table }) => table)

/** The figures of the metric bundle. */
export const fleetFigures = FleetMetrics.keyof().options
/** Those that are cheap enough to be asked of every host every few seconds. */
export const loadFigures = HostLoad.keyof().options

/** Basics and figures in one statement that reads each table once; a figure whose table the user cannot see is null. */
export const figuresStatement = (what: string, names: readonly Figure[], tables: ReadonlySet<string>): Statement => {
  const read = new Map<string, string[]>()
  const column = (source: Source): string => {
    const from = [`system.${source.table}`, ...(source.where ? [`WHERE ${source.where}`] : [])].join(' ')
    const values = read.get(from) ?? []
    read.set(from, values)
    // Elements of a tuple are counted from 1, as the length after adding one.
    return `read_${[...read.keys()].indexOf(from)}.${values.push(source.value)}`
  }
  const columns = names.map((name) => {
    const choices: readonly Source[] = sources[name]
    const known = choices.filter(({ table }) => tables.has(table)).map(column)
    return known.length > 1 ? `coalesce(${known.join(', ')})` : (known[0] ?? 'NULL')
  })
  const reads = [...read].map(
    ([from, values], index) => `(SELECT tuple(${values.join(', ')}) FROM ${from}) AS read_${index}`,
  )
  const sql = [
    ...(reads.length > 0 ? [`WITH\n  ${reads.join(',\n  ')}`] : []),
    `SELECT ${[basics, ...columns].join(', ')}`,
  ]
  return { what, hot: true, maxSeconds, short: true, sql: sql.join('\n') }
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
