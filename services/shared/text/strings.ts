/** Parses JSON; returns undefined if the text is invalid, which the schema of the caller then reports. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Returns at most `maxLength` UTF-16 code units of a text. Never splits a surrogate pair, because strict JSON parsers
 * would reject the whole document.
 */
export const shortenText = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '')

/** Returns a text of at most `maxLength` UTF-16 code units, truncated with an ellipsis if necessary. */
export const shortenWithEllipsis = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `${shortenText(text, maxLength - 1)}…`
