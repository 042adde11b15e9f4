/** One page of letters of one kind, the newest first: all of them from `next` on, or all there are where that is null. */
export interface LetterPage<T> {
  letters: readonly T[]
  next: string | null
}

/** Pages of letters whose ids count in one order, as one page of as many at most. */
export const joinedLetters = <T extends { id: string }>(
  pages: readonly LetterPage<T>[],
  limit: number,
): LetterPage<T> => {
  // Below this, letters of one kind were not looked at yet.
  const seenFrom = Math.max(0, ...pages.map(({ next }) => Number(next ?? 0)))
  const all = pages.flatMap(({ letters }) => letters).filter(({ id }) => Number(id) >= seenFrom)
  const letters = all.toSorted((one, other) => Number(other.id) - Number(one.id)).slice(0, limit)
  if (letters.length < all.length) return { letters, next: letters.at(-1)?.id ?? null }
  return { letters, next: seenFrom > 0 ? String(seenFrom) : null }
}
