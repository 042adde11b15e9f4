/** Sets that are remembered; hosts of one fleet mostly have the same tables. */
const maxKnown = 100

/** Gives the same set for all that are equal, so that what is made of it for one host can be found by it for the others. */
export const openEqualSets = (): ((names: readonly string[]) => ReadonlySet<string>) => {
  const known = new Map<string, ReadonlySet<string>>()
  return (names) => {
    const key = names.toSorted().join('\n')
    const set = known.get(key) ?? new Set(names)
    // Written anew, so that the first of the map is the one that was needed longest ago.
    known.delete(key)
    known.set(key, set)
    for (const oldest of known.keys()) {
      if (known.size <= maxKnown) break
      known.delete(oldest)
    }
    return set
  }
}
