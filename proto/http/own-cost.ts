import { z } from 'zod'
import { ownCostMethods } from '../own-cost.ts'
import { createResponseSchema } from './response.ts'
import { windowOrderIssue, isWindowOrdered, hostId, timeRangeParameters } from './parameters.ts'

const { ownCost } = ownCostMethods

/** `GET /api/v1/own-cost`. `from` and `to` are epoch seconds and override `lastHours` (default 24). */
export const OwnCostQuery = z
  .strictObject({
    hostId: hostId.default(0),
    ...timeRangeParameters,
  })
  .refine(isWindowOrdered, windowOrderIssue)

/** Response of `GET /api/v1/own-cost`. If `data` is null, `metadata.unavailable` has the reason. */
export const OwnCostResponse = createResponseSchema(
  ownCost.output.shape.cost,
  z.object({ host: z.string(), ...ownCost.output.omit({ cost: true }).shape }),
)
