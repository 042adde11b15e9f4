/** Gives what is made for a key, and remembers it as long as it is among the `most` that were needed last. */
export const openRecent = <T>(most: number): ((key: string, make: () => T) => T) => {
  const known = new Map<string, T>()
  // Mostly what is needed is what was needed just before.
  let newest: { key: string; value: T } | undefined
  return (key, make) => {
    if (newest?.key === key) return newest.value
    const value = known.get(key) ?? make()
    newest = { key, value }
    // Written anew, so that the first of the map is the one that was needed longest ago.
    known.delete(key)
    known.set(key, value)
    for (const oldest of known.keys()) {
      if (known.size <= most) break
      known.delete(oldest)
    }
    return value
  }
}
