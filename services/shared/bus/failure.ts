import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { isErrorCode, ServiceError } from '#proto/errors.ts'
import { decodeJson, encodeJson } from './body.ts'

/**
 * Returns the result of `work`, or undefined if it fails with `unavailable`. Callers use it for optional results.
 */
export const ignoreUnavailable = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'unavailable') return undefined
    throw error
  }
}

const ErrorBody = z.object({
  code: z.string(),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
  retryAfterMs: z.number().optional(),
})

/** Encodes an error frame. Omits all details if the frame would be too large with them. */
export const encodeFailure = (
  { code, message, details, retryAfterMs }: ServiceError,
  frameBytes: number,
): Uint8Array => {
  const short = { code, message: message.slice(0, maxMessageCharacters), retryAfterMs }
  const body = encodeJson({ ...short, details })
  return body.byteLength <= frameBytes ? body : encodeJson(short)
}

const maxMessageCharacters = 8_192

/** Decodes an error frame. An unknown code of a newer peer becomes `internal`. */
export const decodeFailure = (body: Uint8Array): ServiceError => {
  const { code, message, details, retryAfterMs } = ErrorBody.parse(decodeJson(body))
  return new ServiceError(isErrorCode(code) ? code : 'internal', message, { details, retryAfterMs })
}

/**
 * Returns the error for the caller. A `ServiceError` is returned unchanged. Any other error may contain private data,
 * so the caller only gets a reference, which `report` logs together with the error.
 */
export const toServiceError = (thrown: unknown, report: (reference: string) => void): ServiceError => {
  if (thrown instanceof ServiceError) return thrown
  const reference = randomUUID()
  report(reference)
  const sentence = `internal error: see reference ${reference} in the log`
  return new ServiceError('internal', sentence, { details: { reference } })
}
