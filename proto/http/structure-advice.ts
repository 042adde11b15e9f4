import { z } from 'zod'
import { StructureAdvice } from '../structure-advice.ts'
import { answer } from './answer.ts'
import { bodyHostId } from './parameters.ts'

const Name = z.string().min(1).max(256)

/** `POST /api/v1/advice/table`: with `measure`, codecs are measured if the operator allows it. */
export const TableAdviceRequest = z.strictObject({
  hostId: bodyHostId.default(0),
  database: Name,
  table: Name,
  measure: z.boolean().default(false),
})

/** The response of `GET /api/v1/advice/host`: recommendations, and `metadata.notes` if there are none. */
export const StructureAdviceResponse = answer(
  z.array(StructureAdvice),
  z.object({ host: z.string(), notes: z.array(z.string()) }),
)
