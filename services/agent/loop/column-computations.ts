import { canHaveUnit, convertCell, countsTexts, isCount, isNounOf, isNumeric, toStem } from './bound-columns.ts'
import { allWords, type ClaimContext, maximumWords, minimumWords, totalWords } from './claim-context.ts'
import type { CandidateValue } from './figure-tolerance.ts'
import type { Figure, FigureKind, FigureReading } from './figures.ts'
import type { NumberCell, ResultColumn, ResultTable } from './result-cells.ts'
import { findName, type TableScope } from './row-scopes.ts'
import { computeChanges, differencePattern, isPointDifference } from './stated-computations.ts'

/** A figure in one of its readings, with the rows that it and its claim are about. */
interface ComputedFigure {
  figure: Figure
  reading: FigureReading
  /** The rows that the claim names. */
  scope: TableScope
  /** The rows that the figure is about. */
  own: TableScope
}

/** Returns the sums, shares, averages and ratios of the columns that the claim names. */
export const computeColumns = (computed: ComputedFigure, context: ClaimContext): CandidateValue[] => {
  const { figure, reading, own } = computed
  const { table } = own
  const numeric = table.columns.flatMap((column, index) =>
    !column.isStatistic && isNumeric(table, index) ? [{ column, index }] : [],
  )
  const isRatio = reading.kind === 'percent' || reading.kind === 'times'
  const named = numeric.filter(
    ({ column }) =>
      (isRatio || canHaveUnit(column, reading)) &&
      column.words.some((word) => word.length > 2 && context.words.has(toStem(word))),
  )
  const bound = named.filter(({ column }) => isNounOf(figure, column.words))
  const sameUnit = numeric.filter(({ column }) => column.unit !== null && column.unit.kind === reading.kind)
  const compared = numeric.filter(({ column }) => column.unit !== null && column.unit.kind === findComparedKind(figure))
  // `150 GiB, which is 97 % of the total` is a share of sizes.
  const kindred = isRatio ? numeric.filter(({ column }) => column.unit && context.kinds.has(column.unit.kind)) : []
  const counts = countsTexts(figure, table) ? numeric.filter(({ column }) => isCount(column)) : []
  const usedShares = computeUsedSpace(numeric, computed)
  // A share of free space is a share of its disk, not of the free space of all disks.
  if (usedShares.length > 0 && reading.kind === 'percent' && spaceWords.test(figure.clause)) return usedShares
  if (!table.isComplete) return usedShares
  const areTyped = isRatio || reading.kind === 'plain' || named.some((each) => sameUnit.includes(each))
  const lists = [
    bound,
    named.length > 0 && !areTyped ? [...named, ...sameUnit] : named,
    compared,
    sameUnit,
    counts,
    kindred,
  ]
  const used = lists.find((list) => list.length > 0) ?? (numeric.length === 1 ? numeric : [])
  return [...used.flatMap(({ index }) => computeColumn(computed, index, context)), ...usedShares]
}

/** Returns what `three times as long` or `twice as large` compares. */
const findComparedKind = ({ tail }: Figure): FigureKind | undefined => {
  if (/^\s*(?:as (?:long|slow|fast)|longer|slower|faster|the time)\b/i.test(tail)) return 'seconds'
  return /^\s*(?:as (?:large|big|small)|larger|bigger|smaller|the size)\b/i.test(tail) ? 'bytes' : undefined
}

const computeColumn = (computed: ComputedFigure, index: number, context: ClaimContext): CandidateValue[] => {
  const { figure, reading, scope, own } = computed
  const numbersOf = (list: ResultTable['rows']) => list.flatMap((row) => row[index]?.number ?? [])
  const [all, chosen, owned] = [numbersOf(scope.table.rows), numbersOf(scope.rows), numbersOf(own.rows)]
  const unit = all[0]?.unit ?? null
  const convert = (value: number) => convertCell({ value, unit, tolerance: 0 }, reading)
  const pair = orderPair(figure, own.rows.length === 2 ? own : scope, index)
  const differences = pair && differencePattern.test(context.claim) ? [Math.abs(pair[0] - pair[1])] : []
  if (reading.kind === 'times') return pair ? [{ value: computeRatio(figure, pair) }] : []
  if (reading.kind === 'percent') {
    if (isPointDifference(figure)) return differences.flatMap(convert)
    const isShare = own.isNamed && sum(all) > 0 && !figure.isDifference
    const isHalfAs = pair && /^\s*(?:as|the|its)\b/i.test(figure.tail)
    return [
      ...(isShare ? [(100 * sum(owned)) / sum(all), (100 * sum(chosen)) / sum(all)] : []),
      ...(isHalfAs ? [100 * computeRatio(figure, pair)] : []),
      ...(differences.length > 0 && pair ? computeChanges(figure, pair) : []),
    ].map((value) => ({ value }))
  }
  if (figure.isDifference) return differences.flatMap(convert)
  const { claim, hasMean, hasMedian, hasAverage, hasExtreme } = context
  const values = all.map(({ value }) => value)
  const mayBeTotal = !scope.isNamed || figure.followsOf || allWords.test(claim)
  const isOther = (hasMean || hasExtreme || figure.isUniversal) && !totalWords.test(claim)
  const summed = isOther ? [] : [...(mayBeTotal ? [all] : []), chosen]
  const averages = [all, chosen].flatMap((list) => (list.length > 1 ? [sum(list) / list.length] : []))
  return [
    ...summed.flatMap((list) => (list.length > 1 ? [sum(list)] : [])),
    ...differences,
    ...(hasAverage ? averages : []),
    ...(hasMedian ? [computeMedian(values)] : []),
    ...(hasExtreme ? findExtremes(claim, values) : []),
  ].flatMap(convert)
}

const sum = (list: readonly NumberCell[]): number => list.reduce((total, { value }) => total + value, 0)

const findExtremes = (claim: string, values: readonly number[]): number[] => [
  ...(minimumWords.test(claim) ? [Math.min(...values)] : []),
  ...(maximumWords.test(claim) ? [Math.max(...values)] : []),
]

const computeMedian = (values: readonly number[]): number => {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = (sorted.length - 1) / 2
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2
}

/** Returns the values of two compared rows; the row named after the figure is the second one. */
const orderPair = ({ tail }: Figure, scope: TableScope, index: number): [number, number] | undefined => {
  const [one, two] = scope.rows.map((row) => row[index]?.number?.value)
  if (one === undefined || two === undefined || scope.rows.length !== 2) return undefined
  const isFirstAfter = findName(tail, scope.rows[0]?.[scope.index]?.text ?? '') !== -1
  const isSecondAfter = findName(tail, scope.rows[1]?.[scope.index]?.text ?? '') !== -1
  return isFirstAfter && !isSecondAfter ? [two, one] : [one, two]
}

const directed =
  /^\s*(?:as (?:many|much|large|big|high|long|often)|more|larger|bigger|higher|longer)\b.*\b(?:as|than)\b|^\s*the\b.*\bof\b/i

/** Returns the ratio of a pair: as the words after the figure direct it, otherwise of the larger value to the smaller. */
const computeRatio = ({ tail }: Figure, [one, two]: readonly [number, number]): number =>
  directed.test(tail) ? one / two : Math.max(one, two) / Math.min(one, two)

const spaceWords = /\b(?:free|available|left|remain(?:s|ing)?|full|used|occupied|taken)\b/i
const freeWords = /\b(?:free|available|left|remain(?:s|ing)?)\b/i

/**
 * Returns values as percentages of the total in the same row, such as used bytes of total bytes, and the rest up to the
 * total, such as the free bytes.
 */
const computeUsedSpace = (
  numeric: readonly { column: ResultColumn; index: number }[],
  { figure: { clause }, reading, own: { table, rows, isNamed } }: ComputedFigure,
): CandidateValue[] => {
  const isPercent = reading.kind === 'percent'
  if (!(isPercent || spaceWords.test(clause)) || !(isNamed || table.rows.length === 1)) return []
  const hasWord = (column: ResultColumn, pattern: RegExp) => column.words.some((word) => pattern.test(word))
  const totals = numeric.filter(({ column }) => hasWord(column, /^(?:total|limit|max|maximum|capacity|quota)$/))
  const parts = numeric.filter(({ column }) =>
    hasWord(column, /^(?:used|usage|free|available|unreserved|current|value|part)$/),
  )
  return totals.flatMap((total) =>
    parts.flatMap((part) =>
      rows.flatMap((row) => {
        const [whole, share] = [row[total.index]?.number, row[part.index]?.number]
        if (part === total || !whole || !share || whole.value <= 0) return []
        const isFree = hasWord(part.column, /^(?:free|available|unreserved)$/)
        const isSame = isFree === freeWords.test(clause)
        if (isPercent) return [{ value: 100 * (isSame ? share.value / whole.value : 1 - share.value / whole.value) }]
        return isSame ? [] : convertCell({ ...whole, value: whole.value - share.value }, reading)
      }),
    ),
  )
}
