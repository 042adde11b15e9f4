import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { ServiceError, isErrorCode } from '#proto/errors.ts'
import { decodeJson, encodeJson } from './body.ts'

const ErrorBody = z.object({
  code: z.string(),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
  retryAfterMs: z.number().optional(),
})

/** The body of an error frame; details that would not fit into a frame stay behind. */
export const encodeFailure = (
  { code, message, details, retryAfterMs }: ServiceError,
  frameBytes: number,
): Uint8Array => {
  const short = { code, message: message.slice(0, maxMessageCharacters), retryAfterMs }
  const body = encodeJson({ ...short, details })
  return body.byteLength <= frameBytes ? body : encodeJson(short)
}

const maxMessageCharacters = 8_192

/** The failure in an error frame. A code of a newer peer becomes `internal`. */
export const decodeFailure = (body: Uint8Array): ServiceError => {
  const { code, message, details, retryAfterMs } = ErrorBody.parse(decodeJson(body))
  return new ServiceError(isErrorCode(code) ? code : 'internal', message, { details, retryAfterMs })
}

/**
 * Returns what crosses the bus for something thrown. A `ServiceError` crosses as it is. Anything else may hold data that the caller must
 * not see, so `report` gets it with a reference, and the caller gets only the reference.
 */
export const asFailure = (thrown: unknown, report: (reference: string) => void): ServiceError => {
  if (thrown instanceof ServiceError) return thrown
  const reference = randomUUID()
  report(reference)
  const sentence = `Something went wrong inside; the log knows more under reference ${reference}.`
  return new ServiceError('internal', sentence, { details: { reference } })
}
