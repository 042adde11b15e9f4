/** Where a text is kept: by the browser for all its tabs, or by one tab as long as it is open. */
export type Keeper = 'localStorage' | 'sessionStorage'

/** What was kept under a name; null without it, or where storing is forbidden. */
export const readStored = (name: string, keeper: Keeper = 'localStorage'): string | null => {
  try {
    return globalThis[keeper].getItem(name)
  } catch {
    return null
  }
}

/** Keeps a text, or removes it with null, and tells whether; where storing is forbidden a choice lasts as long as the page. */
export const writeStored = (name: string, text: string | null, keeper: Keeper = 'localStorage'): boolean => {
  try {
    if (text === null) globalThis[keeper].removeItem(name)
    else globalThis[keeper].setItem(name, text)
    return true
  } catch {
    return false
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
