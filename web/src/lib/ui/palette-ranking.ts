import { filterPicks, type PickListItem } from './pick-list-rows.ts'

/** Minimum score of a title that contains the letters of a word with gaps. It allows two gaps within words. */
const minScore = 0.02
/** Titles above this length, such as statements, contain almost any letters in order, so they are not compared. */
const maxFuzzyTitleLength = 60
const maxFuzzyTextLength = 24
const maxFuzzyEntries = 8

/** Returns how well a title matches a text, from 0 to 1. */
type ScoreTitle = (title: string, text: string) => number

/**
 * Returns the entries that match a text, best first: those that contain every word, then titles with its letters in
 * order, such as `slwq` in `Slow queries`. Entries with the same rank keep their order.
 */
export const rankEntries = <P extends PickListItem>(
  entries: readonly P[],
  typed: string,
  scoreTitle: ScoreTitle,
): P[] => {
  const exact = filterPicks(entries, typed)
  const text = typed.trim()
  if (text.length < 2 || text.length > maxFuzzyTextLength) return exact
  const found = new Set(exact)
  const similar = entries
    .filter((entry) => !found.has(entry) && entry.title.length <= maxFuzzyTitleLength)
    .map((entry) => ({ entry, score: scoreTitle(entry.title, text) }))
    .filter(({ score }) => score >= minScore)
    .toSorted((one, other) => other.score - one.score)
    .slice(0, maxFuzzyEntries)
  return [...exact, ...similar.map(({ entry }) => entry)]
}
