import { toStem } from './bound-columns.ts'
import type { Figure, FigureKind } from './figures.ts'
import { splitIntoWords } from './result-cells.ts'

/** A claim, its words, and whether it compares rows or states averages or extremes. */
export interface ClaimContext {
  claim: string
  /** The stems of its words. */
  words: ReadonlySet<string>
  /** The kinds of its figures. */
  kinds: ReadonlySet<FigureKind>
  /** Whether the claim also refers to rows that it does not name, such as `the next largest`. */
  comparesRows: boolean
  hasMean: boolean
  hasMedian: boolean
  hasAverage: boolean
  hasExtreme: boolean
}

export const createClaimContext = (claim: string, figures: readonly Figure[]): ClaimContext => ({
  claim,
  words: new Set(splitIntoWords(claim).map(toStem)),
  kinds: new Set(figures.flatMap(({ readings }) => readings.map(({ kind }) => kind))),
  comparesRows:
    /\b(?:next|others?|second|third|rest|remaining|average|median|typical|compared|versus|vs|previous|earlier|(?:day|hour|week) before)\b/i.test(
      claim,
    ),
  hasMean: /\b(?:averages?|mean|avg)\b/i.test(claim),
  hasMedian: /\bmedian\b/i.test(claim),
  hasAverage: /\b(?:average|averages|mean|avg|per|typical(?:ly)?)\b/i.test(claim),
  hasExtreme: extremeWords.test(claim),
})

/** The names of columns whose values are totals or averages themselves. */
export const aggregateNames = /\b(?:total|sum|avg|average|mean|max|min|median|quantile)\b/
export const totalWords = /\b(?:in total|total of|sum of|together|altogether|combined|in all|overall|across all)\b/i
/** Words after which a claim about one row may state the total of all rows, such as `all tables together`. */
export const allWords = /\b(?:all|both|together|combined|overall)\b/i
/** Words for the largest and for the smallest value. The `oldest` has the largest age, but the smallest date. */
export const maximumWords =
  /\b(?:max(?:imum)?|largest|highest|longest|biggest|slowest|peak(?:s|ed|ing)?|(?<!at )most|oldest|newest)\b/i
export const minimumWords = /\b(?:min(?:imum)?|smallest|lowest|shortest|fastest|fewest|(?<!at )least|oldest|newest)\b/i
export const extremeWords = new RegExp(`${maximumWords.source}|${minimumWords.source}`, 'i')
