import type { ReadableParameters } from '#lib/state/range.ts'

/** Views of a query plan; the first one is the default. */
export const planViews = ['tree', 'graph', 'text'] as const
export type PlanView = (typeof planViews)[number]

export const readPlanView = (parameters: ReadableParameters): PlanView =>
  planViews.find((shape) => shape === parameters.get('shape')) ?? planViews[0]
