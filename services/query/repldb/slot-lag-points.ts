import { z } from 'zod'

/** A point of a history, as it is called now and as it was called before. */
const Point = z.looseObject({
  time: z.number().optional(),
  updatedAt: z.number().optional(),
  size: z.number().optional(),
  slotSize: z.number().optional(),
})
const History = z.object({ data: z.array(Point) })

/** The points of a history under the names that they have now, in the order of time: the service sends a sample in any order. */
export const slotLagPoints = (answer: unknown): unknown => {
  const history = History.safeParse(answer)
  if (!history.success) return answer
  const points = history.data.data.flatMap((point) => {
    const time = point.time ?? point.updatedAt
    const size = point.size ?? point.slotSize
    return time === undefined || size === undefined ? [] : [{ ...point, time, size }]
  })
  return { data: points.toSorted((one, other) => one.time - other.time) }
}
