import { z } from 'zod'
import { ActionOutcome, actionParameters } from '../actions.ts'
import { deprecated } from './parameters.ts'
import { createResponseSchema } from './response.ts'

const { killQuery, optimizeTable, killMutation } = actionParameters

/** `POST /api/v1/actions?hostId=`: an action and its target. */
export const ActionRequest = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('killQuery'), params: z.strictObject(killQuery) }),
  z.strictObject({ action: z.literal('optimizeTable'), params: z.strictObject(optimizeTable) }),
  z.strictObject({ action: z.literal('killMutation'), params: z.strictObject(killMutation) }),
])
export type ActionRequest = z.infer<typeof ActionRequest>

/** Response of `POST /api/v1/actions`; the message describes the outcome. */
export const ActionResponse = createResponseSchema(
  ActionOutcome,
  z.object({ host: z.string(), message: z.string() }),
).extend({ message: z.string().meta(deprecated) })
