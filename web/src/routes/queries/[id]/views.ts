import type { ReadableParameters } from '#lib/state/range.ts'

/** Views of a query; the first one is the default. */
export const views = ['overview', 'plan', 'events', 'threads'] as const
export type View = (typeof views)[number]

export const readView = (parameters: ReadableParameters): View =>
  views.find((each) => each === parameters.get('view')) ?? views[0]
