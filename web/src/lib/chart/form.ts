import type { ChartInfo } from '#proto/catalogue.ts'
import { isOverTime } from './series.ts'

/** The ways to draw a chart. */
export type ChartForm =
  | 'time'
  | 'heatmap'
  | 'rank'
  | 'number'
  | 'table'
  | 'histogram'
  | 'gauge'
  | 'treemap'
  | 'timeline'

/** How a chart is drawn: by its kind, and bars by whether they stand along a time or for classes of a size. */
export const formOf = (chart: ChartInfo): ChartForm => {
  const { kind } = chart
  if (kind === 'list') return 'table'
  if (kind === 'gauge' || kind === 'treemap' || kind === 'timeline' || kind === 'heatmap') return kind
  if (isOverTime(chart)) return 'time'
  if (kind === 'bar') return 'histogram'
  return kind === 'number' ? 'number' : 'rank'
}
