import { z } from 'zod'
import { StructureAdvice } from '../structure-advice.ts'
import { createResponseSchema } from './response.ts'
import { bodyHostId } from './parameters.ts'

const Name = z.string().min(1).max(256)

/** Body of `POST /api/v1/advice/table`. With `measure`, codecs are measured if the operator allows it. */
export const TableAdviceRequest = z.strictObject({
  hostId: bodyHostId.default(0),
  database: Name,
  table: Name,
  measure: z.boolean().default(false),
})

/**
 * Response of `POST /api/v1/advice/table` and `GET /api/v1/advice/host`: recommendations. `metadata.notes` explain why
 * there are none.
 */
export const StructureAdviceResponse = createResponseSchema(
  z.array(StructureAdvice),
  z.object({ host: z.string(), notes: z.array(z.string()) }),
)
