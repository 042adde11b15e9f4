import {
  canHaveUnit,
  convertCell,
  countsTexts,
  findBoundColumns,
  isCount,
  isIdentifier,
  isNounOf,
  isNumeric,
  limitWords,
} from './bound-columns.ts'
import { allWords, type ClaimContext, extremeWords, maximumWords, minimumWords, totalWords } from './claim-context.ts'
import type { CandidateValue } from './figure-tolerance.ts'
import { type Figure, type FigureReading, isPointDifference } from './figures.ts'
import type { FigureKind } from './units.ts'
import type { NumberCell, ResultColumn, ResultTable } from './result-cells.ts'
import { findName, toName } from './row-names.ts'
import type { TableScope } from './row-scopes.ts'
import { computeChanges, computeDirected, differencePattern } from './stated-computations.ts'
import { toStem } from './words.ts'

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
    !column.isStatistic && !isIdentifier(column) && isNumeric(table, index) ? [{ column, index }] : [],
  )
  const isRatio = reading.kind === 'percent' || reading.kind === 'times'
  const boundColumns = isRatio ? new Set() : findBoundColumns(figure, reading, [own])
  const named = numeric.filter(
    ({ column }) =>
      (isRatio || canHaveUnit(column, reading)) &&
      column.words.some((word) => word.length > 2 && context.words.has(toStem(word))),
  )
  const bound = named.filter(({ column }) => (isRatio ? isNounOf(figure, column.words) : boundColumns.has(column)))
  const sameUnit = numeric.filter(
    ({ column }) =>
      column.unit?.kind === reading.kind && (isRatio || boundColumns.size === 0 || boundColumns.has(column)),
  )
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
  const wholes =
    figure.followsOf &&
    !numeric.some(
      ({ column }) =>
        column.words.some((word) => limitWords.has(word)) ||
        isNounOf({ nouns: figure.nouns.slice(0, 1) }, column.words),
    )
      ? addParts(figure, numeric, own)
      : []
  const ratios = reading.kind === 'times' && own.rows.length === 1 ? compareColumns(figure, numeric, own) : []
  return [...ratios, ...wholes, ...used.flatMap(({ index }) => computeColumn(computed, index, context)), ...usedShares]
}

/** Returns the sums of the part before a figure and the other counts of its row, such as failed and successful queries. */
const addParts = (
  { relatesTo }: Figure,
  numeric: readonly { column: ResultColumn; index: number }[],
  { rows }: TableScope,
): CandidateValue[] => {
  const part = relatesTo?.readings[0]?.value
  const counts = numeric.flatMap(({ column, index }) => {
    const value = rows[0]?.[index]?.number?.value
    return column.unit === null && value !== undefined ? [value] : []
  })
  const others = counts.filter((_value, place) => place !== counts.indexOf(part ?? Number.NaN))
  return rows.length === 1 && part !== undefined && counts.includes(part)
    ? others.map((value) => ({ value: part + value }))
    : []
}

/** Returns the ratio of two columns of a row, as in `80 times as many inserts as selects`. */
const compression = /\bcompress/i

const compareColumns = (
  { tail, clause }: Figure,
  numeric: readonly { column: ResultColumn; index: number }[],
  { rows }: TableScope,
): CandidateValue[] => {
  const [, first = '', second = ''] =
    /^\s*(?:as (?:many|much)|more)\s([\p{L}_ ]+?)\s(?:as|than)\s([\p{L}_ ]+)/iu.exec(tail) ?? []
  const read = (isFound: (column: ResultColumn) => boolean) => {
    const found = numeric.find(({ column }) => isFound(column))
    return found && rows[0]?.[found.index]?.number?.value
  }
  const [one, two] = compression.test(clause)
    ? ['uncompressed', 'compressed'].map((word) => read(({ words }) => words.includes(word)))
    : [first, second].map((noun) => read(({ words }) => isNounOf({ nouns: noun.split(' ') }, words)))
  return one === undefined || two === undefined ? [] : [{ value: one / two }]
}

/** Returns what `three times as long` or `twice as large` compares. */
const findComparedKind = ({ tail }: Figure): FigureKind | undefined => {
  if (/^\s*(?:as (?:long|slow|fast)|longer|slower|faster|the time)\b/i.test(tail)) return 'seconds'
  return /^\s*(?:as (?:large|big|small)|larger|bigger|smaller|the size)\b/i.test(tail) ? 'bytes' : undefined
}

const computeColumn = (computed: ComputedFigure, index: number, context: ClaimContext): CandidateValue[] => {
  const { figure, reading, scope, own } = computed
  const values = {
    all: readNumbers(scope.table.rows, index),
    chosen: readNumbers(scope.rows, index),
    owned: readNumbers(own.rows, index),
  }
  const unit = values.all[0]?.unit ?? null
  const convert = (value: number) => convertCell({ value, unit, tolerance: 0 }, reading)
  const pair = orderPair(figure, own.rows.length === 2 ? own : scope, index)
  const isDifference = !/above|below|at/.test(figure.bound) && differencePattern.test(context.claim)
  const differences = pair && isDifference ? [Math.abs(pair[0] - pair[1])] : []
  if (reading.kind === 'times') return pair ? [{ value: computeRatio(figure, pair) }] : []
  if (reading.kind === 'percent' && unit?.kind !== 'percent') {
    if (isPointDifference(figure)) return []
    const isHalfAs = pair && /^\s*(?:as|the|its)\b/i.test(figure.tail)
    const isShare =
      own.isNamed &&
      !figure.isDifference &&
      !/^\s*of (?:it|this|that|which)\b/.test(figure.tail) &&
      isAdditive(scope.table.columns[index])
    return [
      ...(isShare ? [(100 * sum(values.owned)) / sum(values.all)] : []),
      ...(isHalfAs ? [100 * computeRatio(figure, pair)] : []),
      ...(differences.length > 0 && pair ? computeChanges(figure, pair) : []),
    ].map((value) => ({ value }))
  }
  if (figure.isDifference || isPointDifference(figure)) {
    const changes = reading.kind === 'percent' && !isPointDifference(figure) && pair ? computeChanges(figure, pair) : []
    return changes.length > 0 ? changes.map((value) => ({ value })) : differences.flatMap(convert)
  }
  const sums = unit?.kind === 'percent' ? [] : computeSums(computed, values, context)
  return [...sums, ...differences, ...computeStatistics(computed, values, context)].flatMap(convert)
}

/** The numbers of a column: all of them, those of the rows that the claim names, and those of the figure's rows. */
type ColumnNumbers = Readonly<Record<'all' | 'chosen' | 'owned', readonly NumberCell[]>>

const readNumbers = (rows: ResultTable['rows'], index: number): NumberCell[] =>
  rows.flatMap((row) => row[index]?.number ?? [])

/** Returns whether the values of a column add up to a total, unlike maxima and averages. */
const isAdditive = (column: ResultColumn | undefined): boolean =>
  column !== undefined &&
  !column.words.some((word) => /^(?:max|min|avg|average|mean|median|p\d+|per|ratio)$/.test(word))

const computeSums = (
  { figure, scope, own }: ComputedFigure,
  values: ColumnNumbers,
  context: ClaimContext,
): number[] => {
  const { claim, hasMean, hasExtreme } = context
  const isOther = (hasMean || hasExtreme || figure.isUniversal) && !totalWords.test(claim)
  if (isOther) return []
  // `2 of 3 replicas` has its total in the same row.
  const hasTotal = scope.table.columns.some(
    ({ words }) => words.some((word) => limitWords.has(word)) && isNounOf(figure, words),
  )
  const mayBeTotal = !own.isNamed || (figure.followsOf && !hasTotal)
  const isJoint = allWords.test(claim) && scope.isNamed
  const lists = [mayBeTotal ? values.all : [], isJoint ? values.chosen : [], values.owned]
  return lists.flatMap((list) => (list.length > 1 ? [sum(list)] : []))
}

const computeStatistics = ({ figure, own }: ComputedFigure, values: ColumnNumbers, context: ClaimContext): number[] => {
  const { claim, hasMedian, hasAverage, hasExtreme } = context
  // A limit of all rows, as in `every average is below 10 ms`, is none of their average.
  if (figure.isUniversal && figure.bound !== 'exact') return []
  const [all, owned] = [values.all, values.owned].map((list) => list.map(({ value }) => value))
  const averages = (own.isNamed ? [values.owned] : [values.all]).filter((list) => list.length > 1)
  const nearby = `${figure.lead} ${figure.tail}`
  return [
    ...(hasAverage ? averages.map((list) => sum(list) / list.length) : []),
    ...(hasMedian ? [computeMedian(all ?? [])] : []),
    ...(hasExtreme ? findExtremes(extremeWords.test(nearby) ? nearby : claim, (own.isNamed ? owned : all) ?? []) : []),
  ]
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
export const orderPair = ({ tail }: Figure, scope: TableScope, index: number): [number, number] | undefined => {
  const [one, two] = scope.rows.map((row) => row[index]?.number?.value)
  if (one === undefined || two === undefined || scope.rows.length !== 2) return undefined
  const isAfter = (row: ResultTable['rows'][number] = []) =>
    row.some((cell, place) => !isNumeric(scope.table, place) && findName(tail, toName(cell)) !== -1)
  const [isFirstAfter, isSecondAfter] = [isAfter(scope.rows[0]), isAfter(scope.rows[1])]
  return isFirstAfter && !isSecondAfter ? [two, one] : [one, two]
}

/** Returns the ratio of a pair: as the words after the figure direct it, otherwise of the larger value to the smaller. */
const computeRatio = ({ tail }: Figure, [one, two]: readonly [number, number]): number =>
  computeDirected(tail, one, two) ?? Math.max(one, two) / Math.min(one, two)

const spaceWords = /\b(?:in use|free|available|left|remain(?:s|ing)?|full|used|occupied|taken|succe\w+)\b/i
const freeWords = /\b(?:free|available|left|remain(?:s|ing)?|succe\w+)\b/i

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
    hasWord(
      column,
      /^(?:used|usage|free|available|unreserved|current|value|part|read|done|processed|written|failed|failure)$/,
    ),
  )
  // `max_connections` is the limit of `connections`.
  const limited = (total: ResultColumn) =>
    numeric.filter(
      ({ column }) => column.words.join(' ') === total.words.filter((word) => !limitWords.has(word)).join(' '),
    )
  return totals.flatMap((total) =>
    [...new Set([...parts, ...limited(total.column)])].flatMap((part) =>
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
