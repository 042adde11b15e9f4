import type { IncomingMessage } from 'node:http'

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
