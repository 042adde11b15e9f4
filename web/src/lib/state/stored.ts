/** What this browser kept under a name; null without it, or where storing is forbidden. */
export const readStored = (name: string): string | null => {
  try {
    return globalThis.localStorage.getItem(name)
  } catch {
    return null
  }
}

/** Keeps a text in this browser, or removes it with null; where storing is forbidden a choice lasts as long as the page. */
export const writeStored = (name: string, text: string | null): void => {
  try {
    if (text === null) globalThis.localStorage.removeItem(name)
    else globalThis.localStorage.setItem(name, text)
  } catch {
    // The choice then lasts as long as the page.
  }
}

/** Kept JSON, or undefined for what is none. */
export const readStoredJson = (name: string): unknown => {
  try {
    return JSON.parse(readStored(name) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}
