/** The value of a text of JSON; undefined for any other text, so that a schema refuses both in one place. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
