import type { ReadableParameters } from '#lib/state/range.ts'

/** Views of a query plan; the first one is the default. */
export const shapes = ['tree', 'graph', 'text'] as const
export type Shape = (typeof shapes)[number]

export const readShape = (parameters: ReadableParameters): Shape =>
  shapes.find((shape) => shape === parameters.get('shape')) ?? shapes[0]
