/** A key for each text: those that repeat are told apart by how often each has come before. */
export const uniqueKeys = (texts: readonly string[]): string[] => {
  const seen = new Map<string, number>()
  return texts.map((text) => {
    const times = seen.get(text) ?? 0
    seen.set(text, times + 1)
    return `${times} ${text}`
  })
}
