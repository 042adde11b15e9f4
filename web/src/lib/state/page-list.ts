/** A page that a user starred or visited: its path with the parameters of the page, without host and time range. */
export interface ListedPage {
  path: string
  title: string
}

/** Maximum numbers of pages, and lengths of their fields. Longer paths are not kept. */
export const maxStarredPages = 20
export const maxRecentPages = 10
const maxPathLength = 500
const maxTitleLength = 120

/**
 * Returns whether two entries are the same page. Filters do not matter, but the subject does, such as a table. A
 * dashboard remains the same page if it is renamed.
 */
export const isSamePage = (one: ListedPage, other: ListedPage): boolean =>
  getPathname(one) === getPathname(other) && (one.title === other.title || one.path.startsWith('/dashboards/'))

const getPathname = ({ path }: ListedPage): string => path.split('?', 1)[0] ?? ''

/** Returns the valid entries of a stored list. */
export const parsePageList = (stored: unknown, max: number): ListedPage[] => {
  if (!Array.isArray(stored)) return []
  const pages = stored.filter(isListedPage).map(({ path, title }) => ({ path, title }))
  return pages.filter((page, index) => pages.findIndex((each) => isSamePage(each, page)) === index).slice(0, max)
}

const isListedPage = (value: unknown): value is ListedPage => {
  if (typeof value !== 'object' || value === null || !('path' in value) || !('title' in value)) return false
  const { path, title } = value
  return (
    typeof path === 'string' &&
    /^\/(?!\/)/.test(path) &&
    path.length <= maxPathLength &&
    typeof title === 'string' &&
    title !== '' &&
    title.length <= maxTitleLength
  )
}

/** Returns the list with a page at its beginning. Invalid pages are left out, and so are the oldest above `max`. */
export const prependPage = (pages: readonly ListedPage[], page: ListedPage, max: number): ListedPage[] =>
  parsePageList([{ path: page.path, title: page.title.slice(0, maxTitleLength) }, ...pages], max)

/** Returns the list without a page. */
export const removePage = (pages: readonly ListedPage[], page: ListedPage): ListedPage[] =>
  pages.filter((each) => !isSamePage(each, page))
