import { raw, type Request, type RequestHandler, type Response } from 'express'
import { ServiceError } from '#proto/errors.ts'
import { HttpError } from '../response/http-exchange.ts'
import { parseForm } from './parse.ts'
import type { Route } from '../http-route.ts'

/** No body that a route reads is longer: a statement of 100,000 characters with its escapes fits. */
const maxBodyBytes = 512 * 1024

const json = 'application/json'
const form = 'application/x-www-form-urlencoded'

const readJson: RequestHandler = raw({ type: json, limit: maxBodyBytes })
const readJsonOrForm: RequestHandler = raw({ type: [json, form], limit: maxBodyBytes })

/** What reads the bytes of a body, and no more of them than a route may want. */
export const readerOf = ({ body, form }: Route): RequestHandler[] => {
  if (body === undefined) return []
  return [form ? readJsonOrForm : readJson]
}

/** The bytes of a body of whatever type, when its route wants them. */
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

/** The value of a body whose bytes its route has read by itself. */
export const jsonBodyOf = (bytes: Buffer, mediaType = ''): unknown => {
  if (/^application\/json\s*(;|$)/i.test(mediaType)) return jsonOf(textOf(bytes))
  throw new HttpError(415, 'unsupported-media-type', `send a JSON body with Content-Type: ${json}`)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The value of the body that was read: of JSON, or the fields of a form, of which there may be none. */
export const bodyOf = (request: Request<Record<string, string>>, route: Route): unknown => {
  const bytes: unknown = request.body
  if (Buffer.isBuffer(bytes)) return request.is(form) ? parseForm(textOf(bytes)) : jsonOf(textOf(bytes))
  if (route.form && isEmpty(request)) return {}
  const media = route.form ? `a form with Content-Type: ${form}, or JSON` : `a JSON body with Content-Type: ${json}`
  throw new HttpError(415, 'unsupported-media-type', `send ${media}`)
}

const isEmpty = ({ headers }: Request<Record<string, string>>): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0

/** The text of a body; throws `invalid` for bytes that are none. */
export const textOf = (bytes: Buffer): string => {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new ServiceError('invalid', 'the body is not UTF-8')
  }
}

/** The value of a body; throws `invalid` for a text that is no JSON. */
export const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw new ServiceError('invalid', 'the body is not JSON')
  }
}
