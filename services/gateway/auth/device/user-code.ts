import { randomInt } from 'node:crypto'

/** Letters that nobody takes for another and that make no words (RFC 8628 §6.1). */
const letters = 'BCDFGHJKLMNPQRSTVWXZ'
const length = 8

/** A code to be typed by a person: one of 20 to the power of 8, without the dash it is shown with. */
export const newUserCode = (): string =>
  Array.from({ length }, () => letters.charAt(randomInt(letters.length))).join('')

/** As it is shown: `WDJB-MJHT`. */
export const shownUserCode = (code: string): string => `${code.slice(0, length / 2)}-${code.slice(length / 2)}`

/** The code somebody typed, in whatever case and with whatever between; undefined when it can be none. */
export const parseUserCode = (typed: string): string | undefined => {
  const code = typed.toUpperCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
  return code.length === length && [...code].every((letter) => letters.includes(letter)) ? code : undefined
}
