import { raw, type Request, type RequestHandler } from 'express'
import { ServiceError } from '#proto/errors.ts'
import { HttpError } from './http-error.ts'

/** No body that a route reads is longer: a statement of 100,000 characters with its escapes fits. */
const maxBodyBytes = 512 * 1024

/** Reads the bytes of a JSON body, and no more of them than a route may want. */
export const readBody: RequestHandler = raw({ type: 'application/json', limit: maxBodyBytes })

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The JSON that `readBody` read. */
export const jsonBody = (request: Request): unknown => {
  const bytes: unknown = request.body
  if (!Buffer.isBuffer(bytes)) {
    throw new HttpError(415, 'unsupported-media-type', 'send a JSON body with Content-Type: application/json')
  }
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    throw new ServiceError('invalid', 'the body is not JSON in UTF-8')
  }
}
