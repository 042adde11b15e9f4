import type { ReadableParameters } from '#lib/state/range.ts'

/** The sides of one query; the first unless the URL says otherwise. */
export const views = ['overview', 'plan', 'events', 'threads'] as const
export type View = (typeof views)[number]

export const readView = (parameters: ReadableParameters): View =>
  views.find((each) => each === parameters.get('view')) ?? views[0]
