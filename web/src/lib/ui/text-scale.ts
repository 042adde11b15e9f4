import { preferences, type Preferences } from '#lib/state/preferences.ts'
import { getRootFontSizePx } from './root-font-size.ts'

/** The default text size in pixels, for which pixel dimensions are designed. */
const defaultPx = 14
const cachedScales = new Map<Preferences['density'], number>()

/** Returns the factor by which text is larger than the default, for elements sized in pixels. */
export const getTextScale = (): number => {
  const { density } = preferences.current
  const scale = cachedScales.get(density) ?? getRootFontSizePx() / defaultPx
  cachedScales.set(density, scale)
  return scale
}
