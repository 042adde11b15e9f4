import type { ChartInfo, Unit } from '#proto/catalogue.ts'
import type { ChartData } from '#proto/query.ts'
import type { Pattern, PatternAnswer } from '#lib/api/analysis.ts'

interface Told {
  name: string
  title: string
  doc: string
  kind: ChartInfo['kind']
  unit: Unit
  values: Readonly<Record<string, string>>
}

const told: readonly Told[] = [
  {
    name: 'pattern-duration',
    title: 'Duration',
    doc: 'Percentiles of the time that executions took.',
    kind: 'line',
    unit: 'milliseconds',
    values: { p50Ms: 'p50', p95Ms: 'p95', p99Ms: 'p99' },
  },
  {
    name: 'pattern-calls',
    title: 'Calls',
    doc: 'Executions that ended, those that failed apart.',
    kind: 'stacked-bar',
    unit: 'count',
    values: { good: 'Finished', errors: 'Failed' },
  },
  {
    name: 'pattern-rows',
    title: 'Rows read',
    doc: 'Rows that all executions read together.',
    kind: 'area',
    unit: 'rows',
    values: { readRows: 'Rows read' },
  },
  {
    name: 'pattern-memory',
    title: 'Peak memory',
    doc: 'The most memory that one execution used.',
    kind: 'area',
    unit: 'bytes',
    values: { peakMemoryBytes: 'Peak memory' },
  },
]

/** How a pattern came along, as charts like those of the catalogue. */
export const trendCharts = ({ trend }: Pattern, window: PatternAnswer['metadata']['window']): ChartData[] => {
  const rows = trend.map((point) => ({
    ...point,
    good: point.calls - point.errors,
    // Where nothing ran, nothing used memory or did not.
    peakMemoryBytes: point.calls > 0 ? point.peakMemoryBytes : null,
  }))
  return told.map(({ unit, values, ...info }) => ({
    chart: {
      ...info,
      topic: 'queries',
      feature: 'QUERIES',
      requires: [],
      parameters: [],
      cache: 'realtime',
      columns: [
        { name: 'timeMs', role: 'time', unit: 'none' },
        ...Object.entries(values).map(([name, label]) => ({ name, role: 'value' as const, label, unit })),
      ],
    },
    rows,
    window,
    unavailable: null,
    statement: null,
  }))
}
