import { isIdentifier, isNounOf, isOccurrence, statistics } from './bound-columns.ts'
import { type Figure, type FigureReading, isPointDifference } from './figures.ts'
import type { ResultColumn, ResultTable } from './result-cells.ts'
import { splitIntoWords } from './words.ts'

/** A figure in one of its readings, and a column that may contain it. */
interface Statement {
  figure: Figure
  reading: FigureReading
  column: ResultColumn
  table: ResultTable
}

/** Returns whether a column can contain the kind of statement that the figure makes: a factor, a difference or a count. */
export const canState = (statement: Statement): boolean => checks.every((check) => check(statement))

const hasWord = ({ words }: ResultColumn, pattern: RegExp): boolean => words.some((word) => pattern.test(word))

/** Returns the words around a figure from the last comma before it, and those after its total. */
const findPhrase = ({ lead, tail, clause }: Figure): string =>
  `${lead.split(/[,;.|\n]|\band\b/).at(-1)} ${tail} ${clause}`

const factorWords = /^(?:ratio|factor|times|speedup|amplification)$/
const isFactor = ({ figure, reading, column }: Statement): boolean =>
  reading.kind !== 'times' || isOccurrence(figure) || hasWord(column, factorWords)

/** The cell 5 is not `5 % of all parts`. */
const isPercentage = ({ figure, reading: { kind }, column }: Statement): boolean => {
  if (kind !== 'percent') return true
  const whole = /^\s*of\s(?:all\s|the\s)?([\p{L}_]+)/u.exec(figure.tail)?.[1]
  const isOfItself = column.isPlural && whole !== undefined && isNounOf({ nouns: [whole] }, column.words)
  return !isOfItself && !hasWord(column, /^(?:count|cnt|number|amount|call|execution|occurrence)$/)
}

/** Nouns after a figure that name a column with another unit, as in `85 GiB CPU`, contradict its unit. */
const hasUnitOfNoun = ({ figure, reading: { kind }, table }: Statement): boolean => {
  if (kind === 'plain' || kind === 'times') return true
  const named = table.columns.filter(({ words, unit }) => unit && isNounOf(figure, words))
  return named.length === 0 || named.some(({ unit }) => unit?.kind === kind)
}

const proposalWords = /\b(?:suggest|recommend|propos|target|should|could|would|rais|lower|increas|set\b|to\s*$)/i

/** A suggested value is not the current one. */
const isCurrent = ({ figure: { lead, tail }, column }: Statement): boolean =>
  !hasWord(column, /^(?:suggested|recommended|proposed|target)$/) ||
  (!/\bfrom\s$/i.test(lead) && (proposalWords.test(lead) || proposalWords.test(tail)))

/** A growth per day is none per hour. */
const hasPeriod = ({ figure: { tail }, column: { words } }: Statement): boolean => {
  const stated = /^[^,;]*?(?:\bper\s|\ban?\s|\/\s?)(second|minute|hour|day|week|month)\b/i.exec(tail)?.[1]
  return !words.includes('per') || stated === undefined || stated.toLowerCase() === words[words.indexOf('per') + 1]
}

const differenceWords = /^(?:diff|difference|delta|change|growth|increase|decrease|gap|excess|new|added|more)$/

/** A cell of one of the compared rows is not their difference. */
const isDifference = ({ figure, column, table }: Statement): boolean =>
  !(figure.isDifference || isPointDifference(figure)) || table.rows.length < 2 || hasWord(column, differenceWords)

/** The 1 of `is_readonly` counts nothing. */
const isNoFlag = ({ figure, column: { words } }: Statement): boolean => {
  const stated = splitIntoWords(figure.clause)
  return words[0] !== 'is' || words.every((word) => stated.includes(word))
}

const isLimit = ({ figure, column }: Statement): boolean =>
  !/\b(?:limit|threshold|quota)(?:\s(?:of|is))?\s*$/i.test(figure.lead) ||
  hasWord(column, /^(?:limit|max|maximum|total|capacity|quota|threshold|setting|value|allowed)$/)

/** The free space is the difference of the total and the used space. */
const isSameSpace = ({ figure, reading: { kind }, column }: Statement): boolean => {
  if (figure.followsOf) return true
  const phrase = findPhrase(figure)
  const isFree = hasWord(column, /^(?:free|available|left|remaining|unreserved|rest)$/)
  if (isFree) return !/\b(?:used|full|occupied|in use)\b/i.test(phrase) || /\b(?:free|left|available)\b/i.test(phrase)
  if (kind === 'plain') return !/\bfree\b/i.test(figure.tail)
  return !/bytes|seconds/.test(kind) || !/^[^,;]*\b(?:left|free|remaining|available)\b/i.test(figure.tail)
}

/** A maximum is no average. */
const isSameStatistic = ({ figure, column }: Statement): boolean => {
  const phrase = splitIntoWords(findPhrase(figure))
  const stated = statistics.filter((pattern) => phrase.some((word) => pattern.test(word)))
  const own = statistics.filter((pattern) => hasWord(column, pattern))
  return stated.length === 0 || own.length === 0 || own.some((pattern) => stated.includes(pattern))
}

const isIdentified = ({ figure, column }: Statement): boolean =>
  !isIdentifier(column) || /\b(?:error|exception|code|port|id|version|level|priority)\s*[(:=#]?\s*$/i.test(figure.lead)

const checks: readonly ((statement: Statement) => boolean)[] = [
  isFactor,
  isPercentage,
  hasUnitOfNoun,
  isCurrent,
  hasPeriod,
  isDifference,
  isNoFlag,
  isLimit,
  isSameSpace,
  isSameStatistic,
  isIdentified,
]
