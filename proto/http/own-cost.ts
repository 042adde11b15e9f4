import { z } from 'zod'
import { ownCostMethods } from '../own-cost.ts'
import { answer } from './answer.ts'
import { backwards, forwards, hostId, span } from './parameters.ts'

const { ownCost } = ownCostMethods

/** `GET /api/v1/own-cost`. `from` and `to` are epoch seconds and win over `lastHours` (24 when nothing is given). */
export const OwnCostQuery = z
  .strictObject({
    hostId: hostId.default(0),
    ...span,
  })
  .refine(forwards, backwards)

/** The answer; `data` is null when the host cannot tell, which `metadata.unavailable` explains. */
export const OwnCostAnswer = answer(
  ownCost.output.shape.cost,
  z.object({ host: z.string(), ...ownCost.output.omit({ cost: true }).shape }),
)
