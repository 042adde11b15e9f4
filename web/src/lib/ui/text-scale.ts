import { preferences, type Preferences } from '#lib/state/preferences.ts'
import { unitOfPage } from './unit-of-page.ts'

/** The size of text, in pixels, for which what is drawn by pixels is measured. */
const usualPx = 14
const known = new Map<Preferences['density'], number>()

/** By how much text is larger here than usual: what is drawn by pixels makes as much more room for it. */
export const textScale = (): number => {
  const { density } = preferences.current
  const scale = known.get(density) ?? unitOfPage() / usualPx
  known.set(density, scale)
  return scale
}
