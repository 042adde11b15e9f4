/** Returns a unique key per text: the number of its earlier occurrences, followed by the text. */
export const createUniqueKeys = (texts: readonly string[]): string[] => {
  const seen = new Map<string, number>()
  return texts.map((text) => {
    const times = seen.get(text) ?? 0
    seen.set(text, times + 1)
    return `${times} ${text}`
  })
}
