import { z } from 'zod'
import { createManagementSchema } from '../management.ts'

/** A plain-text password, which never leaves the gateway. */
const Password = z.string().min(8, 'must be at least 8 characters').max(256, 'must not be longer than 256 characters')

/** Response of `GET /api/v1/management`. */
export const ManagementState = z.object({ enabled: z.boolean() })

/** Body of `POST /api/v1/management`. */
export const ManagementRequest = createManagementSchema(Password)
export type ManagementRequest = z.infer<typeof ManagementRequest>

/** Response of `POST /api/v1/management`: the statement as sent, without its password hash. */
export const ManagementResponse = z.object({ success: z.literal(true), ddl: z.string(), message: z.string() })
