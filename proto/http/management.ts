import { z } from 'zod'
import { createManagementSchema } from '../management.ts'
import { deprecated } from './parameters.ts'
import { createResponseSchema } from './response.ts'

/** A plain-text password, which never leaves the gateway. */
const Password = z.string().min(8, 'must be at least 8 characters').max(256, 'must not be longer than 256 characters')

const state = { enabled: z.boolean() }
/** Response of `GET /api/v1/management`. */
export const ManagementState = createResponseSchema(z.object(state), z.object({})).extend({
  enabled: state.enabled.meta(deprecated),
})

/** Body of `POST /api/v1/management`. */
export const ManagementRequest = createManagementSchema(Password)
export type ManagementRequest = z.infer<typeof ManagementRequest>

/** Response of `POST /api/v1/management`: the statement as sent, without its password hash. */
export const ManagementResponse = createResponseSchema(
  z.object({ ddl: z.string(), message: z.string() }),
  z.object({ host: z.string() }),
).extend({ ddl: z.string().meta(deprecated), message: z.string().meta(deprecated) })
