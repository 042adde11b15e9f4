/** The same texts, those that repeat with how often each has come before. */
export const distinct = (texts: readonly string[]): string[] => {
  const seen = new Map<string, number>()
  return texts.map((text) => {
    const times = seen.get(text) ?? 0
    seen.set(text, times + 1)
    return `${times} ${text}`
  })
}
