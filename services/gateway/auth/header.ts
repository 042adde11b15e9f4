import type { IncomingMessage } from 'node:http'
import { ServiceError } from '#proto/errors.ts'

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
