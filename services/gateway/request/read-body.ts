import { raw, type Request, type RequestHandler, type Response } from 'express'
import { ServiceError } from '#proto/errors.ts'
import { HttpError } from '../response/http-exchange.ts'
import { parseForm } from './parse.ts'
import type { Route } from '../http-route.ts'

/** Maximum size of a body: enough for a statement of 100,000 characters with JSON escapes. */
const maxBodyBytes = 512 * 1024

const json = 'application/json'
const form = 'application/x-www-form-urlencoded'

const readJson: RequestHandler = raw({ type: json, limit: maxBodyBytes })
const readJsonOrForm: RequestHandler = raw({ type: [json, form], limit: maxBodyBytes })

/** Returns the middleware that reads the body of a route, up to `maxBodyBytes`; none for a route without a body. */
export const createBodyReader = ({ body, form }: Route): RequestHandler[] => {
  if (body === undefined) return []
  return [form ? readJsonOrForm : readJson]
}

/** Reads the bytes of a body of any media type; throws 413 above `limit`. */
export const readBytes = async (
  request: Request<Record<string, string>>,
  response: Response,
  limit: number,
): Promise<Buffer> => {
  await new Promise<void>((done, failed) => {
    raw({ type: () => true, limit })(request, response, (error?: unknown) => (error ? failed(error) : done()))
  })
  const bytes: unknown = request.body
  return Buffer.isBuffer(bytes) ? bytes : Buffer.alloc(0)
}

/** Parses a JSON body that the route has read as bytes; throws 415 for another media type. */
export const parseJsonBody = (bytes: Buffer, mediaType = ''): unknown => {
  if (/^application\/json\s*(;|$)/i.test(mediaType)) return parseJsonText(decodeBody(bytes))
  throw new HttpError(415, 'unsupported-media-type', `send a JSON body with Content-Type: ${json}`)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Returns the parsed JSON or form body; a form may be empty. */
export const parseBody = (request: Request<Record<string, string>>, route: Route): unknown => {
  const bytes: unknown = request.body
  if (Buffer.isBuffer(bytes)) return request.is(form) ? parseForm(decodeBody(bytes)) : parseJsonText(decodeBody(bytes))
  if (route.form && isEmpty(request)) return {}
  const media = route.form ? `a form with Content-Type: ${form}, or JSON` : `a JSON body with Content-Type: ${json}`
  throw new HttpError(415, 'unsupported-media-type', `send ${media}`)
}

const isEmpty = ({ headers }: Request<Record<string, string>>): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0

/** Decodes a body; throws `invalid` for bytes that are not UTF-8. */
export const decodeBody = (bytes: Buffer): string => {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new ServiceError('invalid', 'the body is not UTF-8')
  }
}

/** Parses a body; throws `invalid` for text that is not JSON. */
export const parseJsonText = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw new ServiceError('invalid', 'the body is not JSON')
  }
}
