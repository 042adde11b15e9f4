import { z } from 'zod'
import { LastHour } from '../history.ts'
import { hostId } from './parameters.ts'
import { createResponseSchema } from './response.ts'

/** Query parameters of `GET /api/v1/history/last-hour`. */
export const LastHourQuery = z.strictObject({ hostId: hostId.default(0) })
/** Response of `GET /api/v1/history/last-hour`. */
export const LastHourResponse = createResponseSchema(LastHour, z.object({ host: z.string() }))
