import type { Unit } from '#proto/catalogue.ts'
import type { HostOverview, UnavailableReason } from '#proto/query.ts'
import type { ChartStates } from '#lib/api/chart-states.ts'
import { readNumber, toTimeSeries, type TimeSeries } from '#lib/chart/series.ts'
import { findDayStartMs } from '#lib/state/zone.ts'
import { formatValue, formatTimeSpan } from '#lib/ui/number.ts'

export interface OverviewMetric {
  label: string
  value: number | null | undefined
  unit: Unit
  note?: string
  share?: number | null
  /** Why the value is missing. */
  unavailable?: UnavailableReason | undefined
  trend?: { times: readonly number[]; values: readonly (number | null)[] } | null
  /** The page with the rows behind the value. */
  path: string
  /** Whether the value covers the time range of the page. */
  ofRange?: boolean
  /** The start of the rows, if they do not follow the time range of the page, in epoch milliseconds. */
  sinceMs?: number | undefined
}

type Charts = ChartStates | undefined

/** The time range of the page as text, and the current time of the host in epoch milliseconds. */
export interface OverviewPeriod {
  range: string
  nowMs: number
}

/** Returns the key metrics of the overview. Their number and labels are constant, so that the layout stays stable. */
export const createOverviewMetrics = (
  overview: HostOverview | undefined,
  charts: Charts,
  period: OverviewPeriod,
): OverviewMetric[] => [
  ...listQueryFigures(overview, charts, period),
  ...listLoadFigures(overview),
  ...listHostStateFigures(overview),
]

const listQueryFigures = (
  overview: HostOverview | undefined,
  charts: Charts,
  { range, nowMs }: OverviewPeriod,
): OverviewMetric[] => {
  const { unavailable: why = {}, metrics, hostInfo } = overview ?? {}
  return [
    {
      label: 'Running queries',
      value: overview?.runningQueries,
      unit: 'count',
      note: formatMerges(metrics?.merges),
      unavailable: why.runningQueries,
      path: '/tables/running-queries',
    },
    {
      label: 'Queries today',
      value: overview?.todayQueries,
      unit: 'count',
      trend: createTrend(charts, 'query-count'),
      unavailable: why.todayQueries,
      path: '/tables/history-queries',
      sinceMs: hostInfo && findDayStartMs(nowMs, hostInfo.timezone),
    },
    {
      label: 'Failed queries',
      ofRange: true,
      value: sumChart(charts, 'failed-query-count'),
      unit: 'count',
      note: range,
      unavailable: charts?.['failed-query-count']?.data?.unavailable ?? undefined,
      path: '/tables/failed-queries?filter=is_initial_query.eq.1',
    },
    {
      label: 'Slow queries',
      ofRange: true,
      value: sumChart(charts, 'slow-query-occurrences'),
      unit: 'count',
      note: `5 s or longer, ${range}`,
      unavailable: charts?.['slow-query-occurrences']?.data?.unavailable ?? undefined,
      path: '/tables/slow-queries?p.min_duration_s=5',
    },
  ]
}

/** Returns the sum of all values of a chart; undefined without data. */
const sumChart = (charts: Charts, name: string): number | undefined => {
  const data = charts?.[name]?.data
  const column = data?.chart.columns.find(({ role }) => role === 'value')
  return data && column && data.rows.reduce((sum, row) => sum + (readNumber(row[column.name]) ?? 0), 0)
}

const listLoadFigures = (overview: HostOverview | undefined): OverviewMetric[] => {
  const { metrics, unavailable: why = {} } = overview ?? {}
  return [
    {
      label: 'Memory',
      value: metrics?.memoryUsedBytes,
      unit: 'bytes',
      note: formatTotal(metrics?.memoryTotalBytes, 'bytes'),
      share: computeShare(metrics?.memoryUsedBytes, metrics?.memoryTotalBytes),
      unavailable: why.memoryUsedBytes,
      path: '/tables/running-queries?sort=memory.desc',
    },
    {
      label: 'Load, 1 minute',
      value: metrics?.loadAverage,
      unit: 'none',
      note: formatTotal(metrics?.cpuCores, 'count', 'cores'),
      share: computeShare(metrics?.loadAverage, metrics?.cpuCores),
      unavailable: why.loadAverage,
      path: '/tables/running-queries?sort=cpu.desc',
    },
  ]
}

const listHostStateFigures = (overview: HostOverview | undefined): OverviewMetric[] => {
  const { metrics, diskUsage: disk, unavailable: why = {} } = overview ?? {}
  return [
    {
      label: 'Disk',
      value: disk?.usedBytes,
      unit: 'bytes',
      note: formatTotal(disk?.totalBytes, 'bytes'),
      share: disk ? disk.percent / 100 : null,
      unavailable: why.diskUsage,
      path: '/tables/disks',
    },
    {
      label: 'Tables',
      value: overview?.tableCount,
      unit: 'count',
      note: formatDatabaseCount(overview?.databaseCount),
      unavailable: why.tableCount,
      path: '/tables/tables-overview',
    },
    {
      label: 'Read-only',
      value: metrics?.readonlyReplicas,
      unit: 'count',
      note: ['replicas', formatReplicaDelay(metrics?.maxReplicaDelaySeconds)].filter(Boolean).join(', '),
      unavailable: why.readonlyReplicas,
      path: '/tables/readonly-tables',
    },
    {
      label: 'Uptime',
      value: overview?.hostInfo.uptimeSeconds,
      unit: 'seconds',
      note: overview && `version ${overview.hostInfo.version}`,
      path: '/charts/host-changes',
    },
  ]
}

const formatMerges = (merges: number | null | undefined) =>
  merges == null ? '' : `${formatValue(merges, 'count')} ${merges === 1 ? 'merge' : 'merges'}`
const formatTotal = (total: number | null | undefined, unit: Unit, noun = '') =>
  total == null ? '' : `of ${formatValue(total, unit)} ${noun}`.trim()
const formatDatabaseCount = (count: number | null | undefined) =>
  count == null ? '' : `in ${count} ${count === 1 ? 'database' : 'databases'}`
const formatReplicaDelay = (seconds: number | null | undefined) =>
  seconds == null ? '' : `delay up to ${formatTimeSpan(seconds)}`

const computeShare = (used: number | null | undefined, total: number | null | undefined): number | null =>
  used == null || !total ? null : used / total

const createTrend = (charts: Charts, name: string): OverviewMetric['trend'] => {
  const data = charts?.[name]?.data
  if (!data) return null
  const { times, series }: TimeSeries = toTimeSeries(data.chart, data.rows)
  const [first] = series
  return first && times.length > 1 ? { times, values: first.values } : null
}
