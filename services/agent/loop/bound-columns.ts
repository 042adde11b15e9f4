import type { CandidateValue } from './figure-tolerance.ts'
import type { Figure, FigureReading } from './figures.ts'
import type { NumberCell, ResultColumn, ResultTable } from './result-cells.ts'
import type { TableScope } from './row-scopes.ts'
import { splitIntoWords, toStem } from './words.ts'

/** Converts a cell to the kind of a figure. A cell without a known unit can be a number of bytes, but no duration. */
export const convertCell = ({ value, unit, tolerance }: NumberCell, { kind }: FigureReading): CandidateValue[] => {
  if (kind === 'plain') return [{ value, tolerance }]
  if (unit?.kind === kind) return [{ value: value * unit.scale, tolerance: tolerance * unit.scale }]
  return unit === null && kind !== 'seconds' ? [{ value, tolerance }] : []
}

/** Returns whether one of the words after the figure is a word of the name. */
export const isNounOf = (figure: Pick<Figure, 'nouns'>, words: readonly string[]): boolean =>
  countNouns(figure, words) > 0

/** Returns how many words of the name are among the words after the figure. */
const countNouns = ({ nouns }: Pick<Figure, 'nouns'>, words: readonly string[]): number => {
  const stems = new Set(words.map(toStem))
  const found = nouns.flatMap(splitIntoWords).filter((noun) => noun.length > 2 && stems.has(toStem(noun)))
  return new Set(found.map(toStem)).size
}

/** Returns whether a column contains numbers. Months such as 202611 are names. */
export const isNumeric = ({ rows }: ResultTable, index: number): boolean =>
  rows.some((row) => row[index]?.number && row[index].text === null)

/** Returns whether the values of a column can have the unit of a figure. */
export const canHaveUnit = ({ unit, isPlural }: ResultColumn, { kind }: FigureReading): boolean =>
  kind === 'plain' || unit?.kind === kind || (unit === null && (kind === 'times' || !isPlural))

/**
 * Returns the numeric columns that a figure is about. These are the columns named by the words after it or by its
 * clause, otherwise those with its unit.
 */
export const findBoundColumns = (
  figure: Figure,
  reading: FigureReading,
  scopes: readonly TableScope[],
): Set<ResultColumn> => {
  const numeric = scopes.flatMap(({ table }) =>
    table.columns.filter(
      (column, index) => !column.isStatistic && isNumeric(table, index) && canHaveUnit(column, reading),
    ),
  )
  const byNoun = selectBestNamed(figure, numeric)
  // In `3 TiB of 4 TiB are free`, the total is in a different column than the free space.
  const clause = new Set(figure.followsOf ? [] : splitIntoWords(figure.clause).map(toStem))
  const byClause = numeric.filter(({ words }) => words.some((word) => word.length > 2 && clause.has(toStem(word))))
  const isCounted = byNoun.length > 0 && reading.kind === 'plain'
  const predicate = findPredicate(figure)
  const byPredicate = numeric.filter(({ words }) => isNounOf({ nouns: predicate }, words))
  const found = [...byNoun, ...(isCounted ? byPredicate : byClause)]
  // A count is no percentage.
  const counts = found.filter(({ unit }) => unit === null)
  const named = isCounted && counts.length > 0 ? counts : found
  const withUnit = numeric.filter(({ unit }) => unit?.kind === reading.kind)
  // In `1,200 rows in 9 s`, the clause names the rows, but the figure is a duration.
  const isTyped = reading.kind === 'plain' || named.some((column) => withUnit.includes(column))
  const all = named.length > 0 && isTyped ? named : [...named, ...withUnit]
  const isTotal = ({ words }: ResultColumn) => words.some((word) => limitWords.has(word))
  const nouns = new Set(figure.nouns.flatMap(splitIntoWords))
  const totals = named.filter(
    (column) => isTotal(column) && column.words.every((word) => limitWords.has(word) || nouns.has(word)),
  )
  if (figure.followsOf && totals.length > 0) return new Set(totals)
  // In `300 parts are in orders and 150 in lines`, the second figure has the column of the first one.
  if (all.length === 0 && figure.elides) return findBoundColumns(figure.elides, reading, scopes)
  const parts = figure.isPart ? all.filter((column) => !isTotal(column)) : []
  return new Set(selectStated(figure, selectStatistic(figure, parts.length > 0 ? parts : all)))
}

/** Words of names that measure what the other words name. */
const measureWords =
  /^(?:size|count|number|num|cnt|value|amount|space|byte|m|s|ms|sec|second|percent|per|of|in|on|to|is|the|gb|gib|mb|mib)$/

/** Returns the columns whose names the text states completely: a `queue` is the `queue_size`, not `merges_in_queue`. */
const selectStated = (figure: Figure, columns: readonly ResultColumn[]): readonly ResultColumn[] => {
  // In `190 of the 285 parts are small`, only the 190 parts are.
  const clause = figure.followsOf ? [] : splitIntoWords(figure.clause)
  const stated = new Set([...clause, ...figure.nouns.flatMap(splitIntoWords)].map(toStem))
  const counts = columns.map(({ words }) => {
    const distinctive = words.filter((word) => !measureWords.test(word))
    return distinctive.every((word) => stated.has(toStem(word))) ? distinctive.length : 0
  })
  const best = Math.max(0, ...counts)
  return best > 0 ? columns.filter((_column, index) => counts[index] === best) : columns
}

/** Returns the adjective in `5 parts are unmerged`, which may name a column. */
export const findPredicate = ({ tail }: Figure): string[] => {
  const predicate = /^\s*(?:[\p{L}_-]+\s){0,2}(?:is|are|was|were)\s([\p{L}_-]+)/u.exec(tail)?.[1]
  return predicate === undefined ? [] : [predicate]
}

/** Returns the columns that share the most words with the figure: `failed queries` are not all `queries`. */
const selectBestNamed = (figure: Figure, columns: readonly ResultColumn[]): ResultColumn[] => {
  const counts = columns.map(({ words }) => countNouns(figure, words))
  const best = Math.max(1, ...counts)
  const named = columns.filter((_column, index) => counts[index] === best)
  const participles = figure.nouns.filter((noun) => /\p{L}{3}ed$/u.test(noun))
  const precise = figure.followsOf ? [] : named.filter(({ words }) => isNounOf({ nouns: participles }, words))
  return precise.length > 0 ? precise : named
}

/** The words for the same statistic in texts and in names. */
export const statistics: readonly RegExp[] = [
  /^(?:max|maximum|peak|highest|worst|slowest|longest|largest|biggest|peaked)$/,
  /^(?:min|minimum|lowest|fastest|shortest|smallest|bottomed)$/,
  /^(?:avg|average|mean|per|each)$/,
  /^median$/,
]

/** Returns the columns with the statistic that the clause names, such as `maximum`, if there are any. */
const selectStatistic = (figure: Figure, columns: readonly ResultColumn[]): readonly ResultColumn[] => {
  const clause = splitIntoWords(figure.clause)
  // `At most 5 s` states a maximum.
  const bound = figure.bound === 'at most' ? 'max' : figure.bound === 'at least' ? 'min' : undefined
  const stated = statistics.filter((pattern) => [...clause, bound ?? ''].some((word) => pattern.test(word)))
  const found = columns.filter(({ words }) => words.some((word) => stated.some((pattern) => pattern.test(word))))
  return found.length > 0 ? found : columns
}

/** Returns whether a figure counts the texts of a column or the records of a list, such as `5 tables`. */
export const countsTexts = (figure: Pick<Figure, 'nouns'>, { words, columns }: ResultTable): boolean =>
  isNounOf(figure, words) ||
  columns.some(({ words: own, texts, moments }) => isNounOf(figure, own) && texts.length > moments.size)

/** Words in the names of columns that contain totals, such as the 12 in `5 of 12 parts`. */
export const limitWords: ReadonlySet<string> = new Set(['limit', 'max', 'maximum', 'total', 'capacity', 'quota'])
/** Words that mark a column as a count of the objects that another column names. */
const countWords: ReadonlySet<string> = new Set([
  'count',
  'cnt',
  'c',
  'n',
  'number',
  'amount',
  'total',
  'call',
  'execution',
  'occurrence',
  'value',
])

/** Returns whether a name such as `count()` leaves open what the values count. */
export const isGeneric = ({ words }: ResultColumn): boolean => words.every((word) => countWords.has(word))
export const isCount = ({ words }: ResultColumn): boolean => words.some((word) => countWords.has(word))

/** Columns whose numbers identify something and count nothing, unless the text before the figure names them. */
const identifierWords = /^(?:code|id|port|pid|errno|version|level|priority|shard|replica|signal|hash|bucket)$/
export const isIdentifier = ({ words, isPlural }: Pick<ResultColumn, 'words' | 'isPlural'>): boolean =>
  !isPlural && identifierWords.test(words.findLast((word) => word !== 'num') ?? '')

const comparedAs = /^\s*(?:as|the|that|its|more|less|fewer|larger|smaller|bigger|higher|lower|longer|faster|slower)\b/i

/** Returns whether `5 times` counts occurrences and compares nothing. */
export const isOccurrence = ({ text, tail }: Figure): boolean => /times$|twice$/i.test(text) && !comparedAs.test(tail)
