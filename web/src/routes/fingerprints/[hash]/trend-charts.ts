import type { ChartInfo, Unit } from '#proto/catalogue.ts'
import type { ChartData } from '#proto/query.ts'
import type { QueryPattern, PatternResponse } from '#lib/api/analysis.ts'

interface TrendChart {
  name: string
  title: string
  doc: string
  kind: ChartInfo['kind']
  unit: Unit
  /** Set if the values are totals of a bucket. */
  per?: ChartInfo['columns'][number]['per']
  values: Readonly<Record<string, string>>
}

const charts: readonly TrendChart[] = [
  {
    name: 'pattern-duration',
    title: 'Duration',
    doc: 'Percentiles of the execution time.',
    kind: 'line',
    unit: 'milliseconds',
    values: { p50Ms: 'p50', p95Ms: 'p95', p99Ms: 'p99' },
  },
  {
    name: 'pattern-calls',
    title: 'Calls',
    doc: 'Finished and failed executions.',
    kind: 'stacked-bar',
    unit: 'count',
    per: 'minute',
    values: { good: 'Finished', errors: 'Failed' },
  },
  {
    name: 'pattern-rows',
    title: 'Rows read',
    doc: 'Rows read by all executions.',
    kind: 'area',
    unit: 'rows',
    per: 'second',
    values: { readRows: 'Rows read' },
  },
  {
    name: 'pattern-memory',
    title: 'Peak memory',
    doc: 'Highest memory use of a single execution.',
    kind: 'area',
    unit: 'bytes',
    values: { peakMemoryBytes: 'Peak memory' },
  },
]

/** Returns the trends of a pattern as charts, in the format of catalogue charts. */
export const createTrendCharts = (
  { trend }: QueryPattern,
  window: PatternResponse['metadata']['window'],
): ChartData[] => {
  const rows = trend.map((point) => ({
    ...point,
    good: point.calls - point.errors,
    // Buckets without executions have no memory use.
    peakMemoryBytes: point.calls > 0 ? point.peakMemoryBytes : null,
  }))
  return charts.map(({ unit, per, values, ...info }) => ({
    chart: {
      ...info,
      topic: 'queries',
      feature: 'QUERIES',
      requires: [],
      parameters: [],
      cache: 'realtime',
      columns: [
        { name: 'timeMs', role: 'time', unit: 'none' },
        ...Object.entries(values).map(([name, label]) => ({
          name,
          role: 'value' as const,
          label,
          unit,
          ...(per && { per }),
        })),
      ],
    },
    rows,
    window,
    unavailable: null,
    statement: null,
  }))
}
