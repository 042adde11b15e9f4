import type { Figure } from './figures.ts'
import type { FigureKind } from './units.ts'
import { splitIntoWords, toStem } from './words.ts'

/** A claim, its words, and whether it states averages or extremes. */
export interface ClaimContext {
  claim: string
  /** The stems of its words. */
  words: ReadonlySet<string>
  /** The kinds of its figures. */
  kinds: ReadonlySet<FigureKind>
  hasMean: boolean
  hasMedian: boolean
  hasAverage: boolean
  hasExtreme: boolean
}

export const createClaimContext = (claim: string, figures: readonly Figure[]): ClaimContext => ({
  claim,
  words: new Set(splitIntoWords(claim).map(toStem)),
  kinds: new Set(figures.flatMap(({ readings }) => readings.map(({ kind }) => kind))),
  hasMean: /\b(?:averages?|mean|avg)\b/i.test(claim),
  hasMedian: /\bmedian\b/i.test(claim),
  hasAverage: /\b(?:average|averages|mean|avg|per|typical(?:ly)?)\b/i.test(claim),
  hasExtreme: extremeWords.test(claim),
})

/** The names of columns whose values are totals or averages themselves. */
export const aggregateNames = /\b(?:total|sum|avg|average|mean|max|min|median|quantile)\b/
export const totalWords =
  /\b(?:in total|total of|sum of|together|altogether|combined|in all|overall|across all|between them|adds? up to)\b/i
/** Words after which a claim about one row may state the total of all rows, such as `all tables together`. */
export const allWords = /\b(?:all|both|together|combined|overall)\b/i
/** Words for the largest and for the smallest value. The `oldest` has the largest age, but the smallest date. */
export const maximumWords =
  /\b(?:max(?:imum)?|largest|highest|longest|biggest|slowest|busiest|fullest|heaviest|hottest|peak(?:s|ed|ing)?|(?<!at )most|oldest|newest)\b/i
export const minimumWords =
  /\b(?:min(?:imum)?|smallest|lowest|shortest|fastest|fewest|bottomed out|quietest|lightest|emptiest|(?<!at )least|oldest|newest)\b/i
export const extremeWords = new RegExp(`${maximumWords.source}|${minimumWords.source}`, 'i')
