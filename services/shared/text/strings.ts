/** Parses JSON; undefined if the text is invalid, so that a schema reports both errors in one place. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Returns at most `most` UTF-16 units of a text. Never splits a surrogate pair, because strict JSON parsers reject the whole document.
 */
export const beginningOf = (text: string, most: number): string =>
  text.length <= most ? text : text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')

/** Returns the beginning of a text, with an ellipsis if it was cut. */
export const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${beginningOf(text, most - 1)}…`
