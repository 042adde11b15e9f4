import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { parseCookie, stringifySetCookie } from 'cookie'

/** Cookie with the session token of the identity provider, under the name that Clerk uses. */
export const idpCookie = '__session'
/**
 * How long after its expiry a session token can be renewed. Tokens are valid for about a minute. The provider may end
 * the session earlier.
 */
export const maxRenewalAgeMs = 7 * 24 * 60 * 60_000
/** Cookie with the API key that a user signed in with. */
export const keyCookie = 'watchhouse_key'

/** Returns the value of a cookie. If the name is repeated, the first has the longest path and is used. */
export const readCookie = ({ cookie }: IncomingHttpHeaders, name: string): string | undefined =>
  cookie === undefined ? undefined : parseCookie(cookie)[name] || undefined

interface CookieOptions {
  maxAgeMs: number
  /** Restricts the cookie to https. */
  secure: boolean
}

/** Returns a `Set-Cookie` line with HttpOnly and SameSite=Lax, so that scripts and cross-site writes cannot use it. */
export const formatSetCookie = (name: string, value: string, { maxAgeMs, secure }: CookieOptions): string =>
  stringifySetCookie({
    name,
    value,
    maxAge: Math.floor(maxAgeMs / 1000),
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure,
  })

/** Returns a `Set-Cookie` line that deletes a cookie. */
export const formatCookieRemoval = (name: string): string => formatSetCookie(name, '', { maxAgeMs: 0, secure: false })

/**
 * Returns whether the browser uses https, so that its cookies can be restricted to https. TLS ends at the proxy, so
 * the scheme is read from the proxy header or from `Origin`. A forged header affects only the cookies of its sender.
 */
export const isHttpsRequest = (headers: IncomingHttpHeaders, publicUrl: string): boolean => {
  const { origin = '', 'x-forwarded-proto': forwarded } = headers
  const [protocol = ''] = String(forwarded ?? '').split(',')
  return publicUrl.startsWith('https:') || origin.startsWith('https:') || protocol.trim() === 'https'
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Returns whether a page of another site made the browser send this write. Browsers report the site in
 * `Sec-Fetch-Site`, or over plain HTTP in `Origin`. Other clients send neither header, and no web page controls them.
 */
export const isCrossSiteWrite = (
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
  getPublicUrl: () => string | undefined,
): boolean => {
  if (safeMethods.has(method ?? '')) return false
  const { 'sec-fetch-site': relation, origin, host } = headers
  if (relation === 'same-origin' || relation === 'none') return false
  const publicUrl = origin === undefined ? undefined : getPublicUrl()
  if (publicUrl !== undefined && origin === new URL(publicUrl).origin) return false
  if (relation !== undefined) return true
  return origin !== undefined && hostOf(origin) !== host
}

/** Returns the host of an origin. Sandboxed frames have the origin `null`, which equals no host. */
const hostOf = (origin: string): string => (URL.canParse(origin) ? new URL(origin).host : origin)
