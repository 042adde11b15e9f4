import { openRecent } from '#shared/recent.ts'

/** Sets that are remembered; hosts of one fleet mostly have the same tables. */
const maxKnown = 100

/** Gives the same set for all that are equal, so that what is made of it for one host can be found by it for the others. */
export const openEqualSets = (): ((names: readonly string[]) => ReadonlySet<string>) => {
  const recent = openRecent<ReadonlySet<string>>(maxKnown)
  return (names) => recent(names.toSorted().join('\n'), () => new Set(names))
}
