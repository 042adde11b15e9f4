import type { Row } from '#proto/query.ts'
import { parseSameOriginPath } from '#proto/same-origin-path.ts'

/** The target of a link: a path of this site, or an external address. */
export type Link = { path: string } | { address: string }

/**
 * Resolves a link as browsers do: `/\evil.example` is another site. Returns null for URLs other than HTTP, and for URLs
 * that would lead to another site when used as a path.
 */
export const resolveLink = (href: string, origin: string): Link | null => {
  const url = parseHttpUrl(href, origin)
  if (url?.origin !== origin) return url && { address: url.href }
  const path = parseSameOriginPath(url.pathname + url.search)
  return path === undefined ? null : { path }
}

/** Returns an absolute HTTP address, or undefined. */
export const normalizeHttpUrl = (address: string | null): string | undefined => parseHttpUrl(address ?? '')?.href

const parseHttpUrl = (text: string, base?: string): URL | null => {
  const url = URL.parse(text, base)
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url : null
}

/** Replaces each `{column}` in a path by the value of the row. */
export const fillPath = (path: string, row: Row): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(row[name] ?? '')))
