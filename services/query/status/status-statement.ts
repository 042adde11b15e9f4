import { z } from 'zod'
import { FleetMetrics, HostLoad, type HostStatus } from '#proto/query.ts'
import { watchhouseProcessCondition, watchhouseStatementCondition } from '#shared/sql/statement-text.ts'
import { createHostError } from '../clickhouse/failure.ts'
import type { Statement } from '../clickhouse/statement.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'

const maxSeconds = 10

const basics = ['version()', 'uptime()', 'hostName()', 'timezone()', 'toUnixTimestamp64Milli(now64(3))'].join(', ')

export interface HostBasics extends Omit<HostStatus, 'clockSkewMs'> {
  /** The current time on the host, in epoch milliseconds. */
  nowMs: number
}

const BasicRow = z.tuple([z.string(), z.coerce.number(), z.string(), z.string(), z.coerce.number()])

export const readBasics = (host: MonitoredHost, rows: readonly (readonly unknown[])[]): HostBasics => {
  const row = BasicRow.safeParse(rows[0]?.slice(0, basicCount))
  if (!row.success) throw createHostError(host, 'garbage')
  const [version, uptimeSeconds, hostname, timezone, nowMs] = row.data
  return { version, uptimeSeconds, hostname, timezone, nowMs }
}

const basicCount = 5

/** An aggregate over the rows of a `system` table that yields a metric. */
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
/** Returns a sum over local disks only, because object storage disks report meaningless sizes. */
const disks = (expression: string): Source => ({
  table: 'disks',
  value: `sumOrNullIf(${expression}, lower(type) = 'local')`,
})

const isRunning = 'is_initial_query AND query_id != queryID()'
const isOfToday = "event_date = today() AND type != 'QueryStart' AND is_initial_query"

/** The sources of each metric, in order of preference. Sources with invisible tables are omitted. */
const sources = {
  databases: [{ table: 'databases', value: `countIf(name ${outsideSystem})` }],
  tables: [{ table: 'tables', where: `database ${outsideSystem}`, value: 'countIf(NOT is_temporary)' }],
  runningQueries: [{ table: 'processes', value: `countIf(${isRunning} AND NOT ${watchhouseProcessCondition})` }],
  allRunningQueries: [{ table: 'processes', value: `countIf(${isRunning})` }],
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
  // Statements of Watchhouse are excluded: they would dominate on an idle host.
  todayQueries: [
    {
      table: 'query_log',
      where: `${isOfToday} AND NOT ${watchhouseStatementCondition}`,
      value: 'count()',
    },
  ],
  allTodayQueries: [{ table: 'query_log', where: isOfToday, value: 'count()' }],
} as const satisfies Record<
  keyof FleetMetrics | 'todayQueries' | 'allRunningQueries' | 'allTodayQueries',
  readonly Source[]
>

export type HostMetricName = keyof typeof sources

/** Returns the `system` tables that provide a metric, the preferred one first. */
export const findMetricTables = (name: HostMetricName): string[] => sources[name].map(({ table }) => table)

/** The names of the key metrics of a host. */
export const fleetMetricNames = FleetMetrics.keyof().options
/** The names of the metrics that are cheap enough to query from every host every few seconds. */
export const loadMetricNames = HostLoad.keyof().options

/** Returns a statement for basics and metrics that reads each table once; metrics of invisible tables are NULL. */
export const buildMetricsStatement = (
  what: string,
  names: readonly HostMetricName[],
  tables: ReadonlySet<string>,
): Statement => {
  const read = new Map<string, string[]>()
  const column = (source: Source): string => {
    const from = [`system.${source.table}`, ...(source.where ? [`WHERE ${source.where}`] : [])].join(' ')
    const values = read.get(from) ?? []
    read.set(from, values)
    // Tuple elements are numbered from 1, and `push` returns the new length.
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

/** Returns the statement for version, uptime, host name, time zone and clock of a host. */
export const buildBasicsStatement = (what: string): Statement => buildMetricsStatement(what, [], new Set())

const Figures = z.array(z.coerce.number().nullable())

/** Parses the row of `buildMetricsStatement` into values by metric name. */
export const readMetrics = <N extends HostMetricName>(
  host: MonitoredHost,
  names: readonly N[],
  rows: readonly (readonly unknown[])[],
): Record<N, number | null> => {
  const values = Figures.safeParse(rows[0]?.slice(basicCount))
  if (!values.success || values.data.length !== names.length) throw createHostError(host, 'garbage')
  const named = names.map((name, index) => [name, values.data[index] ?? null])
  // Every name has a value, because the lengths are equal.
  return Object.fromEntries(named) as Record<N, number | null>
}
