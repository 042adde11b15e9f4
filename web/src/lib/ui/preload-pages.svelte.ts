import { preloadCode } from '$app/navigation'
import { createPageLoadGate } from '#lib/state/page-load-gate.svelte.ts'

/** The Network Information API, which only some browsers have. */
interface ConnectionFacts {
  connection?: { saveData?: boolean; effectiveType?: string }
}

/**
 * Loads the code of pages once the current page has loaded, one after another while the browser is idle. Their first visit
 * then takes as long as the second one. Does nothing if the user saves data, or on slow connections.
 */
export const preloadPages = (paths: () => readonly string[]): void => {
  const gate = createPageLoadGate()
  $effect(() => {
    if (!gate.isDue || isCostly()) return
    const waiting = [...new Set(paths().map((path) => path.split('?', 1)[0] ?? path))]
    const stopped = new AbortController()
    void loadEach(waiting, stopped.signal)
    return () => stopped.abort()
  })
}

const loadEach = async (paths: readonly string[], signal: AbortSignal): Promise<void> => {
  for (const path of paths) {
    await idle()
    if (signal.aborted) return
    // A page that fails to load is loaded again, and reported, when the user opens it.
    // The paths are those of the menu, which tests compare with the routes.
    await preloadCode(path as Parameters<typeof preloadCode>[0]).catch(() => undefined)
  }
}

/** Browsers without idle callbacks wait for a moment instead. */
const idle = (): Promise<void> =>
  new Promise((resolve) => {
    if ('requestIdleCallback' in window) requestIdleCallback(() => resolve())
    else setTimeout(resolve, 100)
  })

const isCostly = (): boolean => {
  // TypeScript does not declare this API, as it is not a standard.
  const { connection } = navigator as Navigator & ConnectionFacts
  return connection?.saveData === true || connection?.effectiveType?.endsWith('2g') === true
}
