import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { parseCookie, stringifySetCookie } from 'cookie'

/** The session of the identity provider; the name is the provider's. */
export const idpCookie = '__session'
/** Session tokens last about a minute; for how long after that a browser that was away may ask for another. The provider may end the session sooner. */
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
 * Whether the browser is on https, so that its cookies may be kept to that. TLS ends in front, so whoever stands there or the browser
 * itself says so; a caller that lies about it harms itself alone.
 */
export const isSecure = (headers: IncomingHttpHeaders, publicUrl: string): boolean => {
  const { origin = '', 'x-forwarded-proto': forwarded } = headers
  const [protocol = ''] = String(forwarded ?? '').split(',')
  return publicUrl.startsWith('https:') || origin.startsWith('https:') || protocol.trim() === 'https'
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Whether a page of another site made a browser send this write, with the credentials that it adds by itself. Browsers say so in
 * `Sec-Fetch-Site`, and where that is missing (plain http) in `Origin`; what is no browser sends neither and follows no page's wishes.
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
