/** Pixels of the unit by which all grows, `rem` of the style sheet. */
export const unitOfPage = (): number => Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
