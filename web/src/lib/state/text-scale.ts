import { preferences, type Preferences } from './preferences.ts'

/** The size of text, in pixels, for which what is drawn by pixels is measured. */
const usualPx = 14
const known = new Map<Preferences['density'], number>()

/** By how much text is larger here than usual: what is drawn by pixels makes as much more room for it. */
export const textScale = (): number => {
  const { density } = preferences.current
  const scale = known.get(density) ?? Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / usualPx
  known.set(density, scale)
  return scale
}
