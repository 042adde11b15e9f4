import { preferences, type Preferences } from '#lib/state/preferences.ts'
import { rootFontSize } from './root-font-size.ts'

/** The default text size in pixels, for which pixel dimensions are designed. */
const defaultPx = 14
const known = new Map<Preferences['density'], number>()

/** Returns the factor by which text is larger than the default, for elements sized in pixels. */
export const textScale = (): number => {
  const { density } = preferences.current
  const scale = known.get(density) ?? rootFontSize() / defaultPx
  known.set(density, scale)
  return scale
}
