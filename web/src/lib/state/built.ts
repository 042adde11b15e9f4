const yes = new Set(['true', '1', 'yes', 'on'])

/** Whether a variable of the build says yes; undefined where it says nothing, and whatever it says else is no. */
export const builtFlag = (text: string | null | undefined): boolean | undefined =>
  text?.trim() ? yes.has(text.trim().toLowerCase()) : undefined

/** The whole number from 1 on that a variable of the build says; undefined for anything else. */
export const builtCount = (text: string | null | undefined): number | undefined =>
  /^[1-9]\d{0,14}$/.test(text ?? '') ? Number(text) : undefined
