import { readStoredText, writeStoredText } from './browser-storage.ts'

/** Returns the entry script of this build; undefined when a development server serves the pages. */
const findOwnEntry = (): string | null | undefined =>
  document.querySelector('link[rel="modulepreload"][href*="/entry/app."]')?.getAttribute('href')

/** Session storage key for the entry script of the build from which this tab was reloaded. */
const leftBuildKey = 'left-build'

/**
 * Reloads the page if a chunk fails to load because a newer build is deployed. A pending navigation continues in the
 * new build. Other failures are left to the caller. A tab reloads only once per build; otherwise it would reload
 * endlessly while gateways of both builds are running. Returns a function that stops listening.
 */
export const reloadOnNewerBuild = (target: () => URL | null | undefined): (() => void) => {
  const entry = findOwnEntry()
  const follow = async ({ payload }: VitePreloadErrorEvent): Promise<void> => {
    // A failed preload of a page needs no reload, because the navigation to that page will fail and reload.
    const isAhead = !target() && payload.message.includes('/immutable/nodes/')
    if (!entry || isAhead || (await fetchStartPage())?.includes(entry) !== false) return
    // Checks only now, because another chunk may have failed during the request and stored the entry.
    if (readStoredText(leftBuildKey, 'sessionStorage') === entry) return
    writeStoredText(leftBuildKey, entry, 'sessionStorage')
    location.assign(target() ?? location.href)
  }
  // Vite's preload helper dispatches this event.
  const listener = (event: VitePreloadErrorEvent): void => void follow(event)
  addEventListener('vite:preloadError', listener)
  return () => removeEventListener('vite:preloadError', listener)
}

/** Returns the start page that is served now, or undefined if the request fails. */
const fetchStartPage = async (): Promise<string | undefined> => {
  try {
    const response = await fetch('/', { cache: 'no-store' })
    return response.ok ? await response.text() : undefined
  } catch {
    return undefined
  }
}
