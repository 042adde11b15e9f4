import { stripVTControlCharacters } from 'node:util'

/** Control characters, including the C1 set. Some of them move the cursor or change the title of a terminal. */
const controls = /\p{Cc}/gu

/** Returns a text on one line without control characters, so that data of a host cannot control the terminal. */
export const toSafeLine = (text: string): string =>
  stripVTControlCharacters(text).replaceAll(/\s+/g, ' ').replaceAll(controls, '')

/** Returns a text of several lines without control characters. */
export const toSafeText = (text: string): string =>
  stripVTControlCharacters(text)
    .replaceAll('\t', '  ')
    .replaceAll(/[^\P{Cc}\n]/gu, '')

/** Returns a value as one field of tab-separated values, escaped like the format TSV of ClickHouse. */
export const toTabSeparatedField = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll(controls, '')

/** Characters of East Asian scripts and emoji, which take two columns. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u
/** Marks that are combined with the previous character. */
const combining = /\p{Mn}|\p{Me}|\u200d/u

const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)

/** Returns the number of columns of a text without control characters. */
export const measureWidth = (text: string): number => {
  if (isAscii(text)) return text.length
  let width = 0
  for (const character of text) width += combining.test(character) ? 0 : wide.test(character) ? 2 : 1
  return width
}

/** Returns a text of at most `width` columns, truncated with an ellipsis if necessary. */
export const fitWidth = (text: string, width: number): string => {
  if (measureWidth(text) <= width) return text
  if (width <= 0) return ''
  if (isAscii(text)) return `${text.slice(0, width - 1)}…`
  let fitted = ''
  let used = 0
  for (const character of text) {
    used += measureWidth(character)
    if (used > width - 1) break
    fitted += character
  }
  return `${fitted}…`
}

/** Returns a text with exactly `width` columns: truncated, or filled with spaces. */
export const padToWidth = (text: string, width: number, isRight = false): string => {
  const fitted = fitWidth(text, width)
  const fill = ' '.repeat(Math.max(0, width - measureWidth(fitted)))
  return isRight ? fill + fitted : fitted + fill
}
