import { z } from 'zod'
import { OwnCost } from '../own-cost.ts'
import { query } from '../query.ts'
import { Unavailable } from '../unavailable.ts'
import { answer } from './answer.ts'
import { backwards, forwards, hostId, latestSecond, whole } from './parameters.ts'

/** `GET /api/v1/own-cost`. `from` and `to` are epoch seconds and win over `lastHours` (24 when nothing is given). */
export const OwnCostQuery = z
  .strictObject({
    hostId: hostId.default(0),
    lastHours: whole(1, 8760).optional(),
    from: whole(0, latestSecond).optional(),
    to: whole(0, latestSecond).optional(),
  })
  .refine(forwards, backwards)

/** The answer; `data` is null when the host cannot tell, which `metadata.unavailable` explains. */
export const OwnCostAnswer = answer(
  OwnCost.nullable(),
  z.object({
    host: z.string(),
    window: query.methods.ownCost.output.shape.window,
    unavailable: Unavailable.nullable(),
  }),
)
