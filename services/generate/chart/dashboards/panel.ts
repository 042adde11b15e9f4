/** A dashboard; `grafana.ts` converts it to Grafana's format. */
export interface Dashboard {
  title: string
  /** Template variables for labels to filter by, in addition to the namespace. */
  variables: readonly DashboardVariable[]
  sections: readonly { title: string; panels: readonly Panel[] }[]
}

export interface DashboardVariable {
  /** The label name. */
  name: string
  /** The metric whose series provide the values of the label. */
  metric: string
}

/** A panel with its title, unit, and PromQL queries with their legends. */
export interface Panel {
  title: string
  unit?: 's' | 'reqps' | 'Bps' | 'bytes' | 'short' | 'percentunit'
  kind?: 'timeseries' | 'stat'
  queries: readonly (readonly [expression: string, legend: string])[]
  /** Thresholds: `look` is the warning threshold, `act` the critical one. */
  limits?: { look?: number; act: number }
}

/** Returns a PromQL selector of a metric with these label matchers, in the namespace that the user selects. */
export const formatSelector = (metric: string, ...labels: readonly string[]): string =>
  `${metric}{${['namespace=~"$namespace"', ...labels].join(', ')}}`

export const formatRate = (by: string, metric: string, ...labels: readonly string[]): string =>
  `sum by (${by}) (rate(${formatSelector(metric, ...labels)}[$__rate_interval]))`

export const formatQuantile = (share: number, by: string, metric: string, ...labels: readonly string[]): string =>
  `histogram_quantile(${share}, ${formatRate(`${by}, le`, `${metric}_bucket`, ...labels)})`

/** Returns a PromQL expression for the share of a counter's rate that has these labels; 0 if no series has them. */
export const formatCounterShare = (metric: string, ...labels: readonly string[]): string =>
  `(sum(rate(${formatSelector(metric, ...labels)}[$__rate_interval])) or vector(0)) / sum(rate(${formatSelector(metric)}[$__rate_interval]))`
