/** An entry of a searchable list. */
export interface PickListItem {
  id: string
  title: string
  /** A second, less prominent text. */
  detail?: string
  /** The heading of the entry's group. */
  group?: string
  /** Further search terms. */
  searchTerms?: string
}

/** A row of the list: a heading, or an entry with its position among all entries. */
export type PickListRow<P extends PickListItem> = { heading: string } | { pick: P; position: number }

/** Returns the entries that match every typed word, with title matches first. */
export const filterPicks = <P extends PickListItem>(picks: readonly P[], typed: string): P[] => {
  const searchTerms = typed.toLowerCase().split(/\s+/).filter(Boolean)
  if (searchTerms.length === 0) return [...picks]
  return picks
    .map((pick) => ({ pick, rank: rankOf(pick, searchTerms) }))
    .filter(({ rank }) => rank < noMatchRank)
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ pick }) => pick)
}

const noMatchRank = 4

const rankOf = (
  { title, detail = '', group = '', searchTerms: more = '' }: PickListItem,
  searchTerms: readonly string[],
): number => {
  const [name, all] = [title.toLowerCase(), `${title} ${detail} ${group} ${more}`.toLowerCase()]
  if (!searchTerms.every((word) => all.includes(word))) return noMatchRank
  if (name.startsWith(searchTerms.join(' '))) return 0
  if (searchTerms.every((word) => name.includes(word))) return 1
  return searchTerms.some((word) => name.includes(word)) ? 2 : 3
}

/** Row heights in pixels. */
export interface RowHeights {
  heading: number
  pick: number
}

/** Returns the offset of each row in pixels, followed by the total height. */
export const computeRowOffsets = <P extends PickListItem>(
  rows: readonly PickListRow<P>[],
  heights: RowHeights,
): number[] => {
  const tops = [0]
  for (const row of rows) tops.push((tops.at(-1) ?? 0) + ('heading' in row ? heights.heading : heights.pick))
  return tops
}

/** Returns the rows of a list, with a heading before each group. */
export const groupIntoRows = <P extends PickListItem>(picks: readonly P[]): PickListRow<P>[] => {
  const grouped = [...Map.groupBy(picks, ({ group = '' }) => group)].toSorted(
    ([one], [other]) => Number(one !== '') - Number(other !== ''),
  )
  let position = 0
  return grouped.flatMap(([heading, members]): PickListRow<P>[] => [
    ...(heading === '' ? [] : [{ heading }]),
    ...members.map((pick) => ({ pick, position: position++ })),
  ])
}
