import { ownPathOf } from '#proto/own-path.ts'

/** Where a link leads: a path of this site, or an address of another one. */
export type Link = { path: string } | { address: string }

/**
 * Returns where the link of some text leads, resolved as the browser will do it: `/\evil.example` is another site, whatever it begins
 * with. Null for what is no address of the web, or would be one of another site once it stands in a link of its own.
 */
export const linkOf = (href: string, origin: string): Link | null => {
  const url = webUrl(href, origin)
  if (url?.origin !== origin) return url && { address: url.href }
  const path = ownPathOf(url.pathname + url.search)
  return path === undefined ? null : { path }
}

/** Returns the address that another system gave for one of its pages; undefined for what is no whole address of the web. */
export const addressOf = (given: string | null): string | undefined => webUrl(given ?? '')?.href

const webUrl = (text: string, base?: string): URL | null => {
  const url = URL.parse(text, base)
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url : null
}
