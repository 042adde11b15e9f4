export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const stored = (): Theme => themes.find((each) => each === read()) ?? 'system'

const read = (): string | null => {
  try {
    return localStorage.getItem('theme')
  } catch {
    return null
  }
}

let chosen = $state<Theme>(stored())

/** The theme of this browser, for all its tabs; `theme.js` applies it before the first paint. */
export const theme = {
  get current(): Theme {
    return chosen
  },
  set current(next: Theme) {
    chosen = next
    if (next === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = next
    try {
      localStorage.setItem('theme', next)
    } catch {
      // Storage may be forbidden; the choice then lasts as long as the page.
    }
  },
}
