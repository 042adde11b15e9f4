const base = 'http://this.invalid'

/** Returns a path of this site in the form in which a browser reads it; undefined for what leads to another site and for what is no path. */
export const ownPathOf = (given: string): string | undefined => {
  const url = given.startsWith('/') ? URL.parse(given, base) : null
  // Dots may be resolved away between two slashes, and what begins with two is another site again.
  if (url?.origin !== base || url.pathname.startsWith('//')) return undefined
  return `${url.pathname}${url.search}${url.hash}`
}
