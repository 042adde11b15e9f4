import { ServiceError } from '#proto/errors.ts'

/** More parameters than any route knows, however often its filter is repeated. */
const maxParameters = 100

/** Parameters by name; a name given more than once has all its values. */
export type QueryValues = Record<string, string | string[]>

/** The parameters of a URL. Unlike `URLSearchParams` it refuses bytes that are no UTF-8 instead of replacing them. */
export const parseQueryString = (url: string): QueryValues => {
  const start = url.indexOf('?')
  return start === -1 ? {} : parseForm(url.slice(start + 1))
}

/** The fields of a form, which are written as the parameters of a URL are. */
export const parseForm = (text: string): QueryValues => {
  const values: QueryValues = {}
  const pairs = text.split('&', maxParameters + 1)
  if (pairs.length > maxParameters) throw new ServiceError('invalid', `more than ${maxParameters} parameters`)
  for (const pair of pairs) if (pair !== '') add(values, pair)
  return values
}

const add = (values: QueryValues, pair: string): void => {
  const equals = pair.indexOf('=')
  const name = decode(equals === -1 ? pair : pair.slice(0, equals))
  const value = equals === -1 ? '' : decode(pair.slice(equals + 1))
  const known = Object.hasOwn(values, name) ? values[name] : undefined
  const next = known === undefined ? value : [...(typeof known === 'string' ? [known] : known), value]
  if (name !== '__proto__') values[name] = next
  // A plain assignment would change the record itself.
  else Object.defineProperty(values, name, { value: next, enumerable: true, configurable: true, writable: true })
}

const decode = (text: string): string => {
  if (!text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new ServiceError('invalid', 'the parameters are not percent-encoded UTF-8')
  }
}
