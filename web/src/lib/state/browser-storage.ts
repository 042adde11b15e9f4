/** Browser storage: shared by all tabs, or limited to one tab. */
export type StorageArea = 'localStorage' | 'sessionStorage'

/** Returns a stored text; null if it is missing or storage is blocked. */
export const readStoredText = (name: string, area: StorageArea = 'localStorage'): string | null => {
  try {
    return globalThis[area].getItem(name)
  } catch {
    return null
  }
}

/** Stores a text, or removes it for null, and returns whether that succeeded. Browsers may block storage. */
export const writeStoredText = (name: string, text: string | null, area: StorageArea = 'localStorage'): boolean => {
  try {
    if (text === null) globalThis[area].removeItem(name)
    else globalThis[area].setItem(name, text)
    return true
  } catch {
    return false
  }
}

/** Returns stored JSON; undefined if it is missing or invalid. */
export const readStoredJson = (name: string): unknown => {
  try {
    return JSON.parse(readStoredText(name) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}
