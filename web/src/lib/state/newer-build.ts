import { readStored, writeStored } from './stored.ts'

/** The script that names all others of its build; none where the pages come from a development server. */
const ownEntry = (): string | null | undefined =>
  document.querySelector('link[rel="modulepreload"][href*="/entry/app."]')?.getAttribute('href')

/** Where a tab keeps the entry of the build that it has left for a newer one. */
const leftKey = 'left-build'

/**
 * A part of a page that is loaded when it is needed cannot be when the product was renewed since the page was opened. Then the
 * reader is taken to where they were going, in the new build; any other failure is left to who asked for the part. A build is
 * left once: where several parts fail together, or old and new gateways answer side by side, the tab would go round in circles.
 */
export const followNewerBuild = (target: () => URL | null | undefined): (() => void) => {
  const entry = ownEntry()
  const look = async ({ payload }: VitePreloadErrorEvent): Promise<void> => {
    // A page that was only looked ahead at, under the pointer, says so again when it is gone to.
    const isAhead = !target() && payload.message.includes('/immutable/nodes/')
    if (!entry || isAhead || (await startPage())?.includes(entry) !== false) return
    // Asked only now: other parts may have failed meanwhile.
    if (readStored(leftKey, 'sessionStorage') === entry) return
    writeStored(leftKey, entry, 'sessionStorage')
    location.assign(target() ?? location.href)
  }
  // Said by the loader of modules that the build brings along.
  const listener = (event: VitePreloadErrorEvent): void => void look(event)
  addEventListener('vite:preloadError', listener)
  return () => removeEventListener('vite:preloadError', listener)
}

/** The page that the service serves now; nothing when it does not answer. */
const startPage = async (): Promise<string | undefined> => {
  try {
    const response = await fetch('/', { cache: 'no-store' })
    return response.ok ? await response.text() : undefined
  } catch {
    return undefined
  }
}
