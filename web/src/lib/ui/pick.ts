/** Something to be picked from a list by typing a part of it. */
export interface Pick {
  id: string
  title: string
  /** A second, quieter text. */
  detail?: string
  /** The heading under which it stands; those of one group follow one another. */
  group?: string
  /** Further words by which it is found. */
  words?: string
}

/** A line of the list: a heading, or what can be picked with its place among all that can. */
export type PickRow<P extends Pick> = { heading: string } | { pick: P; position: number }

/** Those in which every typed word occurs: first those whose title begins with the text, then those whose title has every word. */
export const found = <P extends Pick>(picks: readonly P[], typed: string): P[] => {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return [...picks]
  return picks
    .map((pick) => ({ pick, rank: rankOf(pick, words) }))
    .filter(({ rank }) => rank < none)
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ pick }) => pick)
}

const none = 4

const rankOf = ({ title, detail = '', group = '', words: more = '' }: Pick, words: readonly string[]): number => {
  const [name, all] = [title.toLowerCase(), `${title} ${detail} ${group} ${more}`.toLowerCase()]
  if (!words.every((word) => all.includes(word))) return none
  if (name.startsWith(words.join(' '))) return 0
  if (words.every((word) => name.includes(word))) return 1
  return words.some((word) => name.includes(word)) ? 2 : 3
}

/** How high the lines of a list are, in pixels. */
export interface RowHeights {
  heading: number
  pick: number
}

/** Where each line begins, in pixels from the top of the list, and at last where the list ends. */
export const topsOf = <P extends Pick>(rows: readonly PickRow<P>[], heights: RowHeights): number[] => {
  const tops = [0]
  for (const row of rows) tops.push((tops.at(-1) ?? 0) + ('heading' in row ? heights.heading : heights.pick))
  return tops
}

/** The lines of a list, with a heading before each group. */
export const rowsOf = <P extends Pick>(picks: readonly P[]): PickRow<P>[] => {
  const grouped = [...Map.groupBy(picks, ({ group = '' }) => group)].toSorted(
    ([one], [other]) => Number(one !== '') - Number(other !== ''),
  )
  let position = 0
  return grouped.flatMap(([heading, members]): PickRow<P>[] => [
    ...(heading === '' ? [] : [{ heading }]),
    ...members.map((pick) => ({ pick, position: position++ })),
  ])
}
