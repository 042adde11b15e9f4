/** The script that names all others of its build; none where the pages come from a development server. */
const ownEntry = (): string | null | undefined =>
  document.querySelector('link[rel="modulepreload"][href*="/entry/app."]')?.getAttribute('href')

/**
 * A part of a page that is loaded when it is needed cannot be when the product was renewed since the page was opened. Then the
 * reader is taken to where they were going, in the new build; any other failure is left to who asked for the part.
 */
export const followNewerBuild = (target: () => URL | null | undefined): (() => void) => {
  const entry = ownEntry()
  const look = async (): Promise<void> => {
    if (!entry || (await startPage())?.includes(entry) !== false) return
    location.assign(target() ?? location.href)
  }
  // Said by the loader of modules that the build brings along.
  const listener = (): void => void look()
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
