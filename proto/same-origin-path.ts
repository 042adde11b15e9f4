const base = 'http://this.invalid'

/** Returns a path of this site in the form a browser resolves it to; undefined for other sites and for non-paths. */
export const parseSameOriginPath = (given: string): string | undefined => {
  const url = given.startsWith('/') ? URL.parse(given, base) : null
  // Resolving dots can leave two leading slashes, which lead to another site.
  if (url?.origin !== base || url.pathname.startsWith('//')) return undefined
  return `${url.pathname}${url.search}${url.hash}`
}
