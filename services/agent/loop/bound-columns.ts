import type { CandidateValue } from './figure-tolerance.ts'
import type { Figure, FigureReading } from './figures.ts'
import { type NumberCell, type ResultColumn, type ResultTable, splitIntoWords } from './result-cells.ts'
import type { TableScope } from './row-scopes.ts'
import { isPointDifference } from './stated-computations.ts'

/** Converts a cell to the unit of a figure. A cell without a known unit may have the unit of the figure. */
export const convertCell = (
  { value, unit, tolerance }: NumberCell,
  { kind, scale, isLetter }: FigureReading,
): CandidateValue[] => {
  const scaled = (...factors: readonly number[]) =>
    factors.map((factor) => ({ value: value * factor, tolerance: tolerance * factor }))
  const isShare = value >= 0 && value <= 1
  if (unit?.kind === kind) return scaled(unit.scale, ...(kind === 'percent' && isShare ? [100] : []))
  if (kind === 'plain') return scaled(1)
  if (unit !== null) return []
  if (kind === 'bytes') return scaled(1, ...(isLetter ? [] : [scale]))
  if (kind === 'seconds') return scaled(scale, 1, 1e-3)
  return kind === 'percent' && isShare ? scaled(1, 100) : scaled(1)
}

/** Returns a reading without conversion to minutes or hours for columns that no one states in these units. */
export const readInColumn = (reading: FigureReading, { words }: ResultColumn): FigureReading =>
  words.some((word) => /^(?:duration|latency|lag|age)$/.test(word))
    ? { ...reading, scale: Math.min(1, reading.scale) }
    : reading

/** Returns whether one of the words after the figure is a word of the name. */
export const isNounOf = (figure: Pick<Figure, 'nouns'>, words: readonly string[]): boolean =>
  countNouns(figure, words) > 0

/** Returns how many words of the name are among the words after the figure. */
const countNouns = ({ nouns }: Pick<Figure, 'nouns'>, words: readonly string[]): number => {
  const stems = new Set(words.map(toStem))
  const found = nouns.flatMap(splitIntoWords).filter((noun) => noun.length > 2 && stems.has(toStem(noun)))
  return new Set(found.map(toStem)).size
}

/** Removes endings, so that `failed` and `failures` are the same word. */
export const toStem = (word: string): string => word.replace(/(?<=\p{L}{3})(?:ed|ures?|ing)$/u, '')

/** Returns whether a column contains numbers. Months such as 202611 are names. */
export const isNumeric = ({ rows }: ResultTable, index: number): boolean =>
  rows.some((row) => row[index]?.number && row[index].text === null)

/** Returns whether the values of a column can have the unit of a figure. */
export const canHaveUnit = ({ unit }: ResultColumn, { kind }: FigureReading): boolean =>
  kind === 'plain' || unit === null || unit.kind === kind

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
  const named = [...byNoun, ...(isCounted ? byPredicate : byClause)]
  const withUnit = numeric.filter(({ unit }) => unit?.kind === reading.kind)
  // In `1,200 rows in 9 s`, the clause names the rows, but the figure is a duration.
  const isTyped = reading.kind === 'plain' || named.some((column) => withUnit.includes(column))
  const all = named.length > 0 && isTyped ? named : [...named, ...withUnit]
  return new Set(selectStatistic(figure, all))
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
const statistics: readonly RegExp[] = [
  /^(?:max|maximum|peak|highest|worst)$/,
  /^(?:min|minimum|lowest)$/,
  /^(?:avg|average|mean)$/,
  /^median$/,
]

/** Returns the columns with the statistic that the clause names, such as `maximum`, if there are any. */
const selectStatistic = (figure: Figure, columns: readonly ResultColumn[]): readonly ResultColumn[] => {
  const clause = splitIntoWords(figure.clause)
  const stated = statistics.filter((pattern) => clause.some((word) => pattern.test(word)))
  const found = columns.filter(({ words }) => words.some((word) => stated.some((pattern) => pattern.test(word))))
  return found.length > 0 ? found : columns
}

/** Returns whether a figure counts the texts of a column or the records of a list, such as `5 tables`. */
export const countsTexts = (figure: Pick<Figure, 'nouns'>, { words, columns, rows }: ResultTable): boolean =>
  isNounOf(figure, words) ||
  columns.some((column, index) => isNounOf(figure, column.words) && rows.some((row) => row[index]?.text))

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

export const isCount = ({ words }: ResultColumn): boolean => words.some((word) => countWords.has(word))

/** Columns whose numbers identify something and count nothing, unless the text before the figure names them. */
const identifierWords = /^(?:code|id|port|pid|errno|version|level|priority)$/
const factorWords = /^(?:ratio|factor|times|speedup|amplification)$/
const differenceWords = /^(?:diff|difference|delta|change|growth|increase|decrease|gap|excess|new|added|more)$/
const comparedAs = /^\s*(?:as|the|that|its|more|less|fewer|larger|smaller|bigger|higher|lower|longer|faster|slower)\b/i

/** Returns whether `5 times` counts occurrences and compares nothing. */
export const isOccurrence = ({ text, tail }: Figure): boolean => /times$|twice$/i.test(text) && !comparedAs.test(tail)

/** Returns whether a column can contain the kind of statement that the figure makes: a factor, a difference or a count. */
export const canState = (
  figure: Figure,
  { kind }: FigureReading,
  { words }: ResultColumn,
  { rows }: ResultTable,
): boolean => {
  const hasWord = (pattern: RegExp) => words.some((word) => pattern.test(word))
  if (kind === 'times' && !isOccurrence(figure) && !hasWord(factorWords)) return false
  if (kind === 'percent' && hasWord(/^(?:count|cnt|number|amount|call|execution|occurrence)$/)) return false
  // The cell 5 is not `5 % of all parts`.
  const whole = /^\s*of\s(?:all\s|the\s)?([\p{L}_]+)/u.exec(figure.tail)?.[1]
  if (kind === 'percent' && whole !== undefined && isNounOf({ nouns: [whole] }, words)) return false
  // A cell of one of the compared rows is not their difference.
  if ((figure.isDifference || isPointDifference(figure)) && rows.length > 1 && !hasWord(differenceWords)) return false
  // The 1 of `is_readonly` counts nothing.
  const stated = splitIntoWords(figure.clause)
  if (words[0] === 'is' && !words.every((word) => stated.includes(word))) return false
  const statesLimit = /\b(?:limit|threshold|quota)(?:\s(?:of|is))?\s*$/i.test(figure.lead)
  if (statesLimit && !hasWord(/^(?:limit|max|maximum|total|capacity|quota|threshold|setting|value|allowed)$/))
    return false
  // The free space is the difference of the total and the used space.
  const isUsed = hasWord(/^(?:used|usage)$/) && kind !== 'plain'
  if (isUsed && /\b(?:left|free|remaining|available)\b/i.test(figure.tail)) return false
  if (hasWord(/^(?:free|available)$/) && kind !== 'plain' && /\b(?:used|full|occupied)\b/i.test(figure.tail))
    return false
  const isIdentifier = identifierWords.test(words.at(-1) ?? '')
  return !isIdentifier || /\b(?:error|exception|code|port|id|version|level|priority)\s*[(:=#]?\s*$/i.test(figure.lead)
}
