import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { parseCookie, stringifySetCookie } from 'cookie'

/** The session of the identity provider; the name is the provider's. */
export const idpCookie = '__session'
/** Session tokens last about a minute. For this long afterwards a browser may renew an expired one; the provider may end the session sooner. */
export const renewableMs = 7 * 24 * 60 * 60_000
/** The API key that a person signed in with. */
export const keyCookie = 'watchhouse_key'

/** The value of a cookie; of several by one name the first, which has the longest path. */
export const cookieOf = ({ cookie }: IncomingHttpHeaders, name: string): string | undefined =>
  cookie === undefined ? undefined : parseCookie(cookie)[name] || undefined

interface CookieOptions {
  maxAgeMs: number
  /** Browsers then send it over https only. */
  secure: boolean
}

/** A `Set-Cookie` line of a cookie that no script can read and that other sites' pages cannot make a browser send with a write. */
export const cookieLine = (name: string, value: string, { maxAgeMs, secure }: CookieOptions): string =>
  stringifySetCookie({
    name,
    value,
    maxAge: Math.floor(maxAgeMs / 1000),
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure,
  })

/** A `Set-Cookie` line that removes a cookie. */
export const removedCookie = (name: string): string => cookieLine(name, '', { maxAgeMs: 0, secure: false })

/**
 * Returns whether the browser uses https, so that its cookies can be restricted to it. TLS ends at the proxy, so the header of the proxy
 * or the origin states it. A caller with a false header harms only itself.
 */
export const isSecure = (headers: IncomingHttpHeaders, publicUrl: string): boolean => {
  const { origin = '', 'x-forwarded-proto': forwarded } = headers
  const [protocol = ''] = String(forwarded ?? '').split(',')
  return publicUrl.startsWith('https:') || origin.startsWith('https:') || protocol.trim() === 'https'
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Returns whether a page of another site made a browser send this write with its cookies. Browsers state it in `Sec-Fetch-Site`, and
 * without that header (plain http) in `Origin`. Other clients send neither, and no page controls them.
 */
export const isCrossSiteWrite = (
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
  publicUrl: string | undefined,
): boolean => {
  if (safeMethods.has(method ?? '')) return false
  const { 'sec-fetch-site': relation, origin, host } = headers
  if (relation === 'same-origin' || relation === 'none') return false
  if (origin !== undefined && publicUrl !== undefined && origin === new URL(publicUrl).origin) return false
  if (relation !== undefined) return true
  return origin !== undefined && hostOf(origin) !== host
}

/** `null` is the origin of sandboxed frames: no host is called so. */
const hostOf = (origin: string): string => (URL.canParse(origin) ? new URL(origin).host : origin)
