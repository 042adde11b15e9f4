/** Returns the root font size in pixels, which is the `rem` unit. */
export const getRootFontSizePx = (): number => Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
