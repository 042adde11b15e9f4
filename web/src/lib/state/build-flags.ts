const trueWords = new Set(['true', '1', 'yes', 'on'])

/** Parses a boolean build variable: undefined if empty, true for `true`, `1`, `yes` or `on`, otherwise false. */
export const parseBuildFlag = (text: string | null | undefined): boolean | undefined =>
  text?.trim() ? trueWords.has(text.trim().toLowerCase()) : undefined

/** Returns a build variable as a positive integer; undefined for anything else. */
export const parseBuildInteger = (text: string | null | undefined): number | undefined =>
  /^[1-9]\d{0,14}$/.test(text ?? '') ? Number(text) : undefined
