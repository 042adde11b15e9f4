import { distance } from 'fastest-levenshtein'

/** Returns the items that share words with a topic, best match first. If no item does, returns all in their order. */
export const rankByTopic = <T>(topic: string, things: readonly T[], textOf: (thing: T) => string): T[] => {
  const wanted = extractWords(topic)
  const score = (thing: T): number => {
    const words = extractWords(textOf(thing))
    return wanted.filter((word) => words.some((each) => isSimilarWord(word, each))).length
  }
  const scored = things.map((thing) => ({ thing, score: score(thing) }))
  const matching = scored.filter((each) => each.score > 0)
  return (matching.length > 0 ? matching : scored).toSorted((a, b) => b.score - a.score).map(({ thing }) => thing)
}

const extractWords = (text: string): string[] => text.toLowerCase().match(/[a-z]{3,}/g) ?? []

/** Returns whether two words are probably forms of the same word, such as `mutations` and `mutation`. */
const isSimilarWord = (a: string, b: string): boolean =>
  a === b || (Math.min(a.length, b.length) > 3 && distance(a, b) <= 1)
