import type { Insight } from '#proto/insights.ts'

/** Where a value begins to be an insight of each severity. */
export type Limits = Partial<Record<Insight['severity'], number>>

const worstFirst = ['critical', 'warning', 'info'] as const

/** The worst severity whose limit a value reaches; undefined when it reaches none. */
export const severityOf = (value: number, limits: Limits): Insight['severity'] | undefined =>
  worstFirst.find((severity) => value >= (limits[severity] ?? Number.POSITIVE_INFINITY))
