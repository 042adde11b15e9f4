/**
 * The beginning of a text, of at most so many UTF-16 units and never with half a character at its end: strict readers of JSON,
 * gateways to models among them, refuse all that such a half stands in.
 */
export const beginningOf = (text: string, most: number): string =>
  text.length <= most ? text : text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')

/** The same with an ellipsis for what was cut. */
export const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${beginningOf(text, most - 1)}…`
