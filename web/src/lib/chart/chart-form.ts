import type { ChartInfo } from '#proto/catalogue.ts'
import { hasTimeAxis } from './series.ts'

/** Visualizations of charts. */
export type ChartVisualization =
  | 'time'
  | 'heatmap'
  | 'rank'
  | 'number'
  | 'table'
  | 'histogram'
  | 'gauge'
  | 'treemap'
  | 'timeline'

/** Returns the visualization of a chart. Charts with a time axis are time series, other
 * bar charts are histograms. */
export const selectVisualization = (chart: ChartInfo): ChartVisualization => {
  const { kind } = chart
  if (kind === 'list') return 'table'
  if (kind === 'gauge' || kind === 'treemap' || kind === 'timeline' || kind === 'heatmap') return kind
  if (hasTimeAxis(chart)) return 'time'
  if (kind === 'bar') return 'histogram'
  return kind === 'number' ? 'number' : 'rank'
}
