import type { IncomingMessage } from 'node:http'
import { ServiceError } from '#proto/errors.ts'
import type { Setting } from '#shared/config/setting.ts'

/** Returns a setting for the name of a request header, which is parsed to lower case as in Node. */
export const createHeaderNameSetting = (fallback: string, doc: string): Setting<string> => ({
  doc,
  audience: 'server',
  fallback,
  allowed: 'name of a header',
  parse: (given = fallback) => {
    if (isHeaderName(given)) return given.toLowerCase()
    throw new Error(`must be ${headerNameHint}`)
  },
})

/** A field of user information, and the header that contains it. */
interface FieldHeader {
  field: string
  header: string
}

/** Maximum number of fields, because every request to the agent contains them. */
const maxFields = 20
const fieldShape = /^[A-Za-z][\w-]{0,63}$/

/** Returns a setting for comma-separated `field:Header-Name` pairs. */
export const createFieldHeadersSetting = (doc: string): Setting<readonly FieldHeader[]> => ({
  doc,
  audience: 'server',
  fallback: 'none',
  allowed: `up to ${maxFields} comma-separated field:Header-Name`,
  parse: (given = '') => {
    const pairs = given.split(',').filter((pair) => pair.trim() !== '')
    if (pairs.length > maxFields) throw new Error(`must be at most ${maxFields} pairs`)
    const fields = pairs.map(readPair)
    const names = new Set(fields.map(({ field }) => field))
    if (names.size < fields.length) throw new Error('must name each field once')
    return fields
  },
})

const readPair = (pair: string): FieldHeader => {
  const [field = '', header = '', ...rest] = pair.split(':').map((part) => part.trim())
  if (fieldShape.test(field) && isHeaderName(header) && rest.length === 0)
    return { field, header: header.toLowerCase() }
  throw new Error(
    `must be field:Header-Name pairs separated by commas: a field of letters, digits, _ and -, then ${headerNameHint}`,
  )
}

/** Returns whether a text is a valid header name: a token (RFC 9110 §5.6.2) of at most 64 characters. */
const isHeaderName = (text: string): boolean => /^[\w!#$%&'*+.^`|~-]{1,64}$/.test(text)

const headerNameHint = 'the name of a header, such as X-Forwarded-User'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Returns the value of a header that identifies the user; undefined if it is absent or empty. Throws if the header is
 * repeated: a proxy that appends its own value to that of the caller would let callers choose an identity.
 */
export const readIdentityHeader = (request: IncomingMessage, name: string): string | undefined => {
  const [value, ...more] = request.headersDistinct[name] ?? []
  if (more.length > 0) throw new ServiceError('unauthenticated', `header "${name}" was sent more than once`)
  return value === undefined ? undefined : decoded(value).trim() || undefined
}

/** Decodes a header as UTF-8, which proxies send; Node reads headers as Latin-1. */
const decoded = (value: string): string => {
  try {
    return utf8.decode(Buffer.from(value, 'latin1'))
  } catch {
    return value
  }
}
