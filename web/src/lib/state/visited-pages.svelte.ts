import { readStoredJson, writeStoredText } from './browser-storage.ts'
import {
  isSamePage,
  maxRecentPages,
  maxStarredPages,
  parsePageList,
  prependPage,
  removePage,
  type ListedPage,
} from './page-list.ts'

const keys = { starred: 'starred-pages', recent: 'recent-pages' } as const
const readStarred = () => parsePageList(readStoredJson(keys.starred), maxStarredPages)
const readRecent = () => parsePageList(readStoredJson(keys.recent), maxRecentPages)

let starred = $state.raw<readonly ListedPage[]>(readStarred())
let recent = $state.raw<readonly ListedPage[]>(readRecent())
let current = $state.raw<ListedPage | null>(null)

// Other windows change the same lists. The storage event fires only in the windows that did not write.
globalThis.addEventListener?.('storage', ({ key }) => {
  if (key === keys.starred) starred = readStarred()
  if (key === keys.recent) recent = readRecent()
})

/** The pages that the user of this browser starred or visited. */
export const visitedPages = {
  /** Starred pages, in the order in which they were starred. */
  get starred(): readonly ListedPage[] {
    return starred
  },
  /** Visited pages except the current one, latest first. */
  get recent(): readonly ListedPage[] {
    const here = current
    return here ? removePage(recent, here) : recent
  },
  /** The current page; null while it has no title. */
  get current(): ListedPage | null {
    return current
  },
  isStarred: (page: ListedPage): boolean => starred.some((each) => isSamePage(each, page)),
  get isCurrentStarred(): boolean {
    return current !== null && visitedPages.isStarred(current)
  },
  setCurrent: (page: ListedPage | null): void => {
    current = page
  },
  /** Adds the current page to the recent ones. */
  recordVisit: (): void => {
    if (!current) return
    // The list is read again, because another window may have changed it.
    recent = prependPage(readRecent(), current, maxRecentPages)
    writeStoredText(keys.recent, JSON.stringify(recent))
  },
  /** Stars the current page, or removes its star. */
  toggleStar: (): void => {
    if (current) visitedPages.toggleStarOf(current)
  },
  /** Stars a page, or removes its star. */
  toggleStarOf: (page: ListedPage): void => {
    const before = readStarred()
    const isStarred = before.some((each) => isSamePage(each, page))
    const after = isStarred ? removePage(before, page) : [...before, ...prependPage([], page, 1)]
    starred = after.slice(-maxStarredPages)
    writeStoredText(keys.starred, JSON.stringify(starred))
  },
  /** Forgets the visited pages, so that the next user of the browser does not see them. */
  clearRecent: (): void => {
    recent = []
    writeStoredText(keys.recent, null)
  },
}
