import { raw, type Request, type RequestHandler } from 'express'
import { ServiceError } from '#proto/errors.ts'
import { HttpError } from './http-error.ts'
import { parseForm } from './query-string.ts'
import type { Route } from './route.ts'

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

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The value of the body that was read: of JSON, or the fields of a form. */
export const bodyOf = (request: Request<Record<string, string>>): unknown => {
  const bytes: unknown = request.body
  if (!Buffer.isBuffer(bytes)) {
    throw new HttpError(415, 'unsupported-media-type', `send a JSON body with Content-Type: ${json}`)
  }
  if (request.is(form)) return parseForm(bytes.toString('latin1'))
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    throw new ServiceError('invalid', 'the body is not JSON in UTF-8')
  }
}
