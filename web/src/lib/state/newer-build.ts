import { readStored, writeStored } from './browser-storage.ts'

/** Returns the entry script of this build; undefined when a development server serves the pages. */
const ownEntry = (): string | null | undefined =>
  document.querySelector('link[rel="modulepreload"][href*="/entry/app."]')?.getAttribute('href')

/** Session storage key of the entry script of the build that this tab has left. */
const leftKey = 'left-build'

/**
 * Reloads the page when a newer build is deployed, as chunks of the old build can no longer be loaded. A pending
 * navigation continues in the new build. Other load failures are left to the caller. Each tab leaves a build only once:
 * it would otherwise reload endlessly while old and new gateways serve at the same time. Returns a function that stops
 * listening.
 */
export const followNewerBuild = (target: () => URL | null | undefined): (() => void) => {
  const entry = ownEntry()
  const follow = async ({ payload }: VitePreloadErrorEvent): Promise<void> => {
    // A preloaded page does not need a reload: it fails again when the user navigates to it.
    const isAhead = !target() && payload.message.includes('/immutable/nodes/')
    if (!entry || isAhead || (await startPage())?.includes(entry) !== false) return
    // Checked after the request, as other chunks may have failed meanwhile.
    if (readStored(leftKey, 'sessionStorage') === entry) return
    writeStored(leftKey, entry, 'sessionStorage')
    location.assign(target() ?? location.href)
  }
  // Vite's preload helper dispatches this event.
  const listener = (event: VitePreloadErrorEvent): void => void follow(event)
  addEventListener('vite:preloadError', listener)
  return () => removeEventListener('vite:preloadError', listener)
}

/** Returns the start page that is served now, or undefined if the request fails. */
const startPage = async (): Promise<string | undefined> => {
  try {
    const response = await fetch('/', { cache: 'no-store' })
    return response.ok ? await response.text() : undefined
  } catch {
    return undefined
  }
}
