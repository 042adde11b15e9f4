import type { Unit } from '#proto/catalogue.ts'
import type { HostOverview, UnavailableReason } from '#proto/query.ts'
import type { ChartStates } from '#lib/api/chart-states.ts'
import { toTimeSeries, type TimeSeries } from '#lib/chart/series.ts'
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
}

type Charts = ChartStates | undefined

/** Returns the key metrics of the overview. Their number and labels are constant, so that the layout stays stable. */
export const createOverviewMetrics = (overview: HostOverview | undefined, charts: Charts): OverviewMetric[] => [
  ...listLoadFigures(overview, charts),
  ...listHostStateFigures(overview),
]

const listLoadFigures = (overview: HostOverview | undefined, charts: Charts): OverviewMetric[] => {
  const { metrics, unavailable: why = {} } = overview ?? {}
  return [
    {
      label: 'Running queries',
      value: overview?.runningQueries,
      unit: 'count',
      note: formatMerges(metrics?.merges),
      unavailable: why.runningQueries,
    },
    {
      label: 'Queries today',
      value: overview?.todayQueries,
      unit: 'count',
      trend: createTrend(charts, 'query-count'),
      unavailable: why.todayQueries,
    },
    {
      label: 'Memory',
      value: metrics?.memoryUsedBytes,
      unit: 'bytes',
      note: formatTotal(metrics?.memoryTotalBytes, 'bytes'),
      share: computeShare(metrics?.memoryUsedBytes, metrics?.memoryTotalBytes),
      unavailable: why.memoryUsedBytes,
    },
    {
      label: 'Load, 1 minute',
      value: metrics?.loadAverage,
      unit: 'none',
      note: formatTotal(metrics?.cpuCores, 'count', 'cores'),
      share: computeShare(metrics?.loadAverage, metrics?.cpuCores),
      unavailable: why.loadAverage,
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
    },
    {
      label: 'Tables',
      value: overview?.tableCount,
      unit: 'count',
      note: formatDatabaseCount(overview?.databaseCount),
      unavailable: why.tableCount,
    },
    {
      label: 'Read-only',
      value: metrics?.readonlyReplicas,
      unit: 'count',
      note: ['replicas', formatReplicaDelay(metrics?.maxReplicaDelaySeconds)].filter(Boolean).join(', '),
      unavailable: why.readonlyReplicas,
    },
    {
      label: 'Uptime',
      value: overview?.hostInfo.uptimeSeconds,
      unit: 'seconds',
      note: overview && `version ${overview.hostInfo.version}`,
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
