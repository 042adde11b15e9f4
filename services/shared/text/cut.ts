/**
 * Returns the beginning of a text, of at most so many UTF-16 units, never with half a character at its end: strict JSON parsers, such as
 * those of model gateways, reject the whole document.
 */
export const beginningOf = (text: string, most: number): string =>
  text.length <= most ? text : text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')

/** The same with an ellipsis for what was cut. */
export const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${beginningOf(text, most - 1)}…`
