import type { ReadableParameters } from '#lib/state/range.ts'

/** How an explanation can be looked at; the first unless the URL says otherwise. */
export const shapes = ['tree', 'graph', 'text'] as const
export type Shape = (typeof shapes)[number]

export const readShape = (parameters: ReadableParameters): Shape =>
  shapes.find((shape) => shape === parameters.get('shape')) ?? shapes[0]
