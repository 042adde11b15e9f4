import { readStoredText, writeStoredText } from './browser-storage.ts'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

let currentTheme = $state<Theme>(themes.find((each) => each === readStoredText('theme')) ?? 'system')

/** The theme of this browser. `app.html` applies it before the first paint. */
export const theme = {
  get current(): Theme {
    return currentTheme
  },
  set current(next: Theme) {
    currentTheme = next
    if (next === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = next
    writeStoredText('theme', next)
  },
}
