import { convertCell, findBoundColumns, isIdentifier, isNounOf, isNumeric, isOccurrence } from './bound-columns.ts'
import { maximumWords, minimumWords } from './claim-context.ts'
import type { ClaimSources } from './claim-sources.ts'
import { orderPair } from './column-computations.ts'
import { isWithinTolerance } from './figure-tolerance.ts'
import { type Figure, isOperand } from './figures.ts'
import type { FigureKind } from './units.ts'
import type { ResultColumn, ResultTable } from './result-cells.ts'
import { findNameColumns } from './row-names.ts'
import { comparesRows, type TableScope } from './row-scopes.ts'
import { hasWrongResult, type TracedFigure } from './stated-computations.ts'
import { splitIntoWords } from './words.ts'

type Traced = ReadonlyMap<Figure, TracedFigure>

/** Returns whether the words around a figure contradict the results, although its value is in them. */
export const isContradicted = (figure: Figure, sources: ClaimSources, traced: Traced): boolean =>
  isNegated(figure) ||
  hasWrongResult(figure, { figures: sources.figures, traced }) ||
  exceedsTotal(figure, traced) ||
  hasWrongOrder(figure, sources, traced) ||
  hasWrongDirection(figure, sources) ||
  hasWrongTime(figure, sources, traced) ||
  hasWrongRank(figure, sources)

/** Returns whether a total is less than its part. */
const exceedsTotal = (figure: Figure, traced: Traced): boolean => {
  const [part, total] = [figure.relatesTo && traced.get(figure.relatesTo), traced.get(figure)]
  return (
    figure.followsOf &&
    !isOperand(figure) &&
    part !== undefined &&
    part.kind === total?.kind &&
    part.value > total.value
  )
}

const negation =
  /(?:\bnot|n't)\s(?:(?:have|has|hold|be|use|take|exactly|quite)\s){0,2}(?:(?:an?|the)\s[\p{L}\s-]{1,40}\s(?:of|is)\s)?$/iu

/** Returns whether the text denies the figure, as in `does not have 300 parts`. */
const isNegated = ({ lead, bound }: Figure): boolean => bound === 'exact' && negation.test(lead)

const more = String.raw`more|higher|larger|bigger|greater|longer|slower|above|exceed(?:s|ed|ing)?`
const less = String.raw`fewer|less|lower|smaller|shorter|below|under`
const comparative = new RegExp(
  String.raw`\b(?:(${more})|(${less}))\b[^.;]*?\b(?:than|above|below|under|exceed(?:s|ed|ing)?)\b\s(?:the\s|its\s)?[^.;\d]*$`,
  'i',
)
const up =
  /\b(?:rose|ris(?:e|es|en|ing)|gr[eo]wn?|growth|increas\w+|climb\w*|up|jump\w*|rais\w+|doubled|tripled|quadrupled|\w+fold)\b/i
const down = /\b(?:fell|falls?|fallen|dropp?\w*|declin\w+|decreas\w+|shr[aiu]nk\w*|down|lowered|halved)\b/i

/** Returns whether the figure and one before it are in another order than the words between them state. */
const hasWrongOrder = (figure: Figure, sources: ClaimSources, traced: Traced): boolean => {
  const start = findStart(figure, sources)
  const [from, two] = [start && traced.get(start), traced.get(figure)]
  if (start && from && two && from.kind === two.kind) {
    const words = sources.context.claim.slice(0, start.start + start.text.length)
    const [isUp, isDown] = [up.test(words), down.test(words)]
    return isUp !== isDown && (isUp ? from.value >= two.value : from.value <= two.value)
  }
  const before = sources.figures[sources.figures.indexOf(figure) - 1]
  const one = before && traced.get(before)
  if (!before || !one || !two || one.kind !== two.kind || /times|percent/.test(two.kind)) return false
  if (before.isDifference || isOccurrence(before)) return false
  const isSplit = /^\W*than\b/.test(figure.lead)
  const found = comparative.exec(isSplit ? `${before.lead} ${figure.lead}` : figure.lead)
  if (found === null || figure.bound !== 'exact') return false
  return found[1] === undefined ? one.value >= two.value : one.value <= two.value
}

/** Returns the start of the change that a figure ends, as in `from 0.5 % (6 of 1200) to 2 %`. */
const findStart = (figure: Figure, { figures }: ClaimSources): Figure | undefined => {
  const place = figures.indexOf(figure)
  return figures.slice(Math.max(0, place - maxBetween), place).findLast((start) => isChange(start, figure))
}

const maxBetween = 3

/** Returns whether the compared rows are in another order than the words state, as in `5 more parts than lines`. */
const hasWrongDirection = (figure: Figure, sources: ClaimSources): boolean => {
  const isLess = /^[^,;(]*\b(?:fewer|less|lower|smaller|shorter)\b[^,;(]*\bthan\b/i.test(figure.tail)
  const isMore = /^[^,;(]*\b(?:more|higher|larger|bigger|greater|longer)\b[^,;(]*\bthan\b/i.test(figure.tail)
  if (isLess === isMore || !comparesRows(figure)) return false
  const orders = (sources.rowsOf.get(figure) ?? []).flatMap((scope) => {
    // `20 % more rows` compares counts.
    const plain = figure.readings.map((reading) =>
      reading.kind === 'percent' ? { ...reading, kind: 'plain' as const } : reading,
    )
    const bound = new Set(plain.flatMap((reading) => [...findBoundColumns(figure, reading, [scope])]))
    return scope.table.columns.flatMap((column, index) => {
      const pair = bound.has(column) ? orderPair(figure, scope, index) : undefined
      return pair ? [isMore ? pair[0] > pair[1] : pair[0] < pair[1]] : []
    })
  })
  return orders.length > 0 && !orders.includes(true)
}

/** Returns whether two figures are the ends of a change, as in `from 5 to 12`. */
const isChange = (before: Figure, { lead }: Figure): boolean =>
  /\bfrom\s(?:about\s)?[~≈]?$/i.test(before.lead) && /^[^,;.]*\bto\s(?:about\s)?[~≈]?$/i.test(lead)

/** Returns whether a series never has the values of a change in this order. */
const hasWrongTime = (figure: Figure, sources: ClaimSources, traced: Traced): boolean => {
  const start = findStart(figure, sources)
  const [one, two] = [start && traced.get(start), traced.get(figure)]
  if (!one || !two) return false
  const orders = (sources.rowsOf.get(figure) ?? []).flatMap(({ table, names }) => findOrders(table, names, [one, two]))
  return orders.length > 0 && !orders.includes(true)
}

/** Returns for each column with both values whether the first one is earlier. */
const findOrders = (
  table: ResultTable,
  names: readonly string[],
  [one, two]: [TracedFigure, TracedFigure],
): boolean[] => {
  const time = table.columns.findIndex(({ moments }) => moments.size > 0)
  if (time === -1) return []
  const keys = names.filter((name) => !table.columns[time]?.moments.has(name))
  const rows = table.rows
    .filter((row) => keys.every((key) => row.some(({ text }) => text === key)))
    .toSorted((first, second) => (first[time]?.text ?? '').localeCompare(second[time]?.text ?? ''))
  return table.columns.flatMap((_column, index) => {
    const values = rows.map((row) => toComparable(row[index]?.number ?? null))
    const [from, to] = [values.indexOf(one.value), values.lastIndexOf(two.value)]
    return from === -1 || to === -1 ? [] : [from < to]
  })
}

const toComparable = (number: { value: number; unit: { scale: number } | null } | null): number =>
  number ? number.value * (number.unit?.scale ?? 1) : Number.NaN

const ordinals: readonly RegExp[] = [/first/i, /second|2nd/i, /third|3rd/i, /fourth|4th/i, /fifth|5th/i]
const superlative = new RegExp(
  String.raw`(?:\b(second|third|fourth|fifth|\dnd|\drd|\dth)[\s-])?(?:\bby far\s)?((?:at\s)?\b(?:\p{L}+est|most|least|worst|peaked|bottomed)\b)`,
  'iu',
)

/** Returns whether the claim calls a row the largest or the third largest, but it is so in none of the possible columns. */
const hasWrongRank = (figure: Figure, sources: ClaimSources): boolean => {
  const sentence = `${figure.lead.split(/[|\n]/).at(-1)} ${figure.tail}`
  const found = superlative.exec(sentence)
  if (found === null || /^(?:oldest|newest|latest|earliest|test|rest|request|at (?:most|least))$/i.test(found[2] ?? ''))
    return false
  const word = found[2] ?? ''
  const isPeak = /^(?:peaked|bottomed)$/i.test(word)
  const isDenied = /\b(?:not|n't)\b[^,;]*$/i.test(sentence.slice(0, found.index))
  const noun = splitIntoWords(sentence.slice(found.index + found[0].length)).find((each) => each.length > 2) ?? ''
  const rank = found[1] === undefined ? 0 : ordinals.findIndex((ordinal) => ordinal.test(found[1] ?? ''))
  const isLowest = minimumWords.test(word) && !maximumWords.test(word)
  const scopes = (sources.rowsOf.get(figure) ?? []).filter(
    ({ table, rows, isNamed }) =>
      isNamed && rows.length === 1 && table.isComplete && isNamedIn(table, sentence, isPeak),
  )
  const hasFound = scopes.some((scope) => hasRank(figure, scope, { rank, word, noun, isLowest }))
  return scopes.length > 0 && hasFound === isDenied
}

/** Returns whether a sentence names rows. A series peaks at a moment; other rows may have peaked themselves. */
const isNamedIn = (table: ResultTable, sentence: string, isPeak: boolean): boolean =>
  findNameColumns(table, sentence).some(({ isMoment }) => isMoment || !isPeak)

/** A superlative, and the word after it. */
interface Superlative {
  /** 0 for the first place. */
  rank: number
  word: string
  noun: string
  isLowest: boolean
}

const hasRank = (figure: Figure, scope: TableScope, { rank, isLowest, ...words }: Superlative): boolean => {
  const { table, rows } = scope
  const ranked = findRankedColumns(figure, scope, words)
  return table.columns.some((column, index) => {
    const value = rows[0]?.[index]?.number?.value
    if (value === undefined || !ranked.has(column)) return false
    const values = table.rows.flatMap((row) => row[index]?.number?.value ?? [])
    const ahead = values.filter((other) => (isLowest ? other < value : other > value)).length
    const equal = values.filter((other) => other === value).length
    return ahead <= rank && rank < ahead + equal
  })
}

/** Returns the columns by which the superlative can rank the rows. */
const findRankedColumns = (
  figure: Figure,
  scope: TableScope,
  { word, noun }: Pick<Superlative, 'word' | 'noun'>,
): ReadonlySet<ResultColumn> => {
  const numeric = scope.table.columns.filter((column, index) => isNumeric(scope.table, index) && !isIdentifier(column))
  const named = numeric.filter(({ words }) => isNounOf({ nouns: [noun] }, words))
  if (named.length > 0) return new Set(named)
  const ofKind = (kind: FigureKind) => numeric.filter(({ unit }) => unit?.kind === kind)
  const durations = /slow|long|fast|short/i.test(word) ? ofKind('seconds') : []
  if (durations.length > 0) return new Set(durations)
  const bound = figure.readings.flatMap((reading) => [...findBoundColumns(figure, reading, [scope])])
  // The busiest hour with 900 queries is the busiest by queries.
  const holding = numeric.filter((column) => {
    const number = scope.rows[0]?.[scope.table.columns.indexOf(column)]?.number
    return figure.readings.some((reading) =>
      number ? convertCell(number, reading).some((cell) => isWithinTolerance(figure, reading, cell)) : false,
    )
  })
  const all = [...bound, ...holding, ...(/large|big|small/i.test(word) ? ofKind('bytes') : [])]
  return new Set(all.length === 0 ? numeric : all)
}
