/** What a dashboard shows; `grafana.ts` makes Grafana's own form of it. */
export interface Dashboard {
  title: string
  /** Labels that a reader may choose values of, besides the namespace. */
  variables: readonly Variable[]
  sections: readonly { title: string; panels: readonly Panel[] }[]
}

export interface Variable {
  /** The label. */
  name: string
  /** The metric whose values of it there are to choose from. */
  metric: string
}

/** One panel: what it shows, in which unit, by which queries and their legends. */
export interface Panel {
  title: string
  unit?: 's' | 'reqps' | 'Bps' | 'bytes' | 'short' | 'percentunit'
  kind?: 'timeseries' | 'stat'
  queries: readonly (readonly [expression: string, legend: string])[]
  /** From where on it is worth a look, and from where on somebody should do something. */
  limits?: { look?: number; act: number }
}

/** A metric of the chosen namespace; where there are no namespaces it is all of them. */
export const of = (metric: string, ...labels: readonly string[]): string =>
  `${metric}{${['namespace=~"$namespace"', ...labels].join(', ')}}`

export const rate = (by: string, metric: string, ...labels: readonly string[]): string =>
  `sum by (${by}) (rate(${of(metric, ...labels)}[$__rate_interval]))`

export const quantile = (share: number, by: string, metric: string, ...labels: readonly string[]): string =>
  `histogram_quantile(${share}, ${rate(`${by}, le`, `${metric}_bucket`, ...labels)})`

/** Which share of what a counter counts has these labels; none of it is 0, not nothing. */
export const share = (metric: string, ...labels: readonly string[]): string =>
  `(sum(rate(${of(metric, ...labels)}[$__rate_interval])) or vector(0)) / sum(rate(${of(metric)}[$__rate_interval]))`
