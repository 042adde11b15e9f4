import type { IncomingMessage } from 'node:http'
import { ServiceError } from '#proto/errors.ts'
import type { Setting } from '#shared/config/setting.ts'

/** The name of a request header, as Node writes it: in lower case. */
export const headerName = (fallback: string, doc: string): Setting<string> => ({
  doc,
  audience: 'server',
  fallback,
  allowed: 'name of a header',
  parse: (given = fallback) => {
    if (isHeaderName(given)) return given.toLowerCase()
    throw new Error(`must be ${notAHeader}`)
  },
})

/** A field that the operator wants to see of a person, and the header it comes in. */
interface FieldHeader {
  field: string
  header: string
}

/** Most fields: they travel with every question of the person. */
const maxFields = 20
const fieldShape = /^[A-Za-z][\w-]{0,63}$/

/** Comma-separated `field:Header-Name` pairs. */
export const fieldHeaders = (doc: string): Setting<readonly FieldHeader[]> => ({
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
    `must be field:Header-Name pairs separated by commas: a field of letters, digits, _ and -, then ${notAHeader}`,
  )
}

/** Characters of a token (RFC 9110 §5.6.2). */
const isHeaderName = (text: string): boolean => /^[\w!#$%&'*+.^`|~-]{1,64}$/.test(text)

const notAHeader = 'the name of a header, such as X-Forwarded-User'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The one value of a header that says who somebody is; undefined when it is absent or empty. Refused when there are several, since
 * a proxy that adds its line below the caller's own would let callers choose who they are.
 */
export const identityHeader = (request: IncomingMessage, name: string): string | undefined => {
  const [value, ...more] = request.headersDistinct[name] ?? []
  if (more.length > 0) throw new ServiceError('unauthenticated', `the header ${name} was given more than once`)
  return value === undefined ? undefined : decoded(value).trim() || undefined
}

/** Node reads headers as Latin-1; proxies send names in UTF-8. */
const decoded = (value: string): string => {
  try {
    return utf8.decode(Buffer.from(value, 'latin1'))
  } catch {
    return value
  }
}
