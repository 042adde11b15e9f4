import type { ReadableParameters } from '#lib/state/range.ts'

/** Views of a query; the first one is the default. */
export const queryViews = ['overview', 'plan', 'events', 'threads'] as const
export type QueryDetailView = (typeof queryViews)[number]

export const readQueryView = (parameters: ReadableParameters): QueryDetailView =>
  queryViews.find((each) => each === parameters.get('view')) ?? queryViews[0]
