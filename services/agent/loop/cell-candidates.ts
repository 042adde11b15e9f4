import {
  canHaveUnit,
  convertCell,
  countsTexts,
  findBoundColumns,
  isCount,
  isGeneric,
  isNumeric,
  limitWords,
} from './bound-columns.ts'
import { canState } from './column-statements.ts'
import { aggregateNames, extremeWords, totalWords } from './claim-context.ts'
import type { ClaimSources } from './claim-sources.ts'
import { isPluralName } from './column-units.ts'
import { type CandidateValue, isWithinTolerance } from './figure-tolerance.ts'
import { type Figure, type FigureReading, isOperand } from './figures.ts'
import type { ResultColumn, ResultTable } from './result-cells.ts'
import { listsNoun } from './row-counts.ts'
import type { TableScope } from './row-scopes.ts'
import { splitIntoWords, toStem } from './words.ts'

/** Returns the cells of the rows that the figure is about, in the columns that it names. */
export const readCells = (figure: Figure, reading: FigureReading, sources: ClaimSources): CandidateValue[] => {
  const rowScopes = sources.rowsOf.get(figure) ?? []
  const bound = findBoundColumns(figure, reading, rowScopes)
  const isNamed = rowScopes.some((scope) => scope.isNamed && scope.table.columns.some((column) => bound.has(column)))
  // A row that the claim names is not in another table, unless the figure names a column there.
  const isElsewhere = rowScopes.some((scope) => scope.isNamed && !scope.isNamedLater)
  const isLimit = /above|below|at/.test(figure.bound)
  const holds = (cells: readonly CandidateValue[]) => cells.some((cell) => isWithinTolerance(figure, reading, cell))
  return rowScopes.flatMap((scope) => {
    if (isNamed && !scope.isNamed) return []
    if (
      isElsewhere &&
      !scope.isNamed &&
      !scope.table.columns.some((column) => bound.has(column) || isThreshold(column))
    )
      return []
    const columns = scope.table.columns.flatMap((column, index) => {
      if (!isUsable(figure, reading, { column, table: scope.table, bound, sources })) return []
      const cells = readColumn(figure, reading, { scope, index, sources })
      return cells.length > 0 ? [cells] : []
    })
    // Unlike a value, a limit identifies no cell. It must hold for each column that it may be about.
    return isLimit && !columns.every(holds) ? [] : columns.flat()
  })
}

interface TableColumn {
  column: ResultColumn
  table: ResultTable
  bound: ReadonlySet<ResultColumn>
  sources: ClaimSources
}

const isUsable = (figure: Figure, reading: FigureReading, { column, table, bound, sources }: TableColumn): boolean => {
  if (column.isStatistic) return /\b(?:statement|this query)\b/i.test(sources.context.claim)
  if (!canHaveUnit(column, reading) || !canState({ figure, reading, column, table })) return false
  if (figure.followsOf && column.words.some((word) => limitWords.has(word))) return true
  if (bound.size > 0) return bound.has(column)
  // A column `parts` counts parts, and no columns; among several columns, one must be named.
  const rows = sources.rowsOf.get(figure)?.find((scope) => scope.table === table && scope.isNamed)?.rows ?? []
  const named = rows.slice(0, maxNamedRows).flatMap((row) => row.flatMap(({ text }) => splitIntoWords(text ?? '')))
  const names = new Set(named.map(toStem))
  const counted =
    reading.kind === 'plain' &&
    figure.nouns.some((noun) => isPluralName(noun) && !splitIntoWords(noun).some((word) => names.has(toStem(word))))
  if (counted && isGeneric(column) && namesOtherObject(figure, sources)) return false
  if (counted && bound.size === 0 && !isGeneric(column) && (column.isPlural || !isOnlyNumber(table))) return false
  const listing = sources.results.find(({ tables }) => tables.includes(table))
  const countsTable = countsTexts(figure, table) || (listing && listsNoun(figure, listing))
  return !countsTable || isCount(column)
}

const isOnlyNumber = (table: ResultTable): boolean =>
  table.columns.filter((_column, index) => isNumeric(table, index)).length === 1

const maxNamedRows = 20
/** Kinds of objects that ClickHouse lists in system tables. */
const objectWords =
  /^(?:table|part|partition|database|query|mutation|merge|replica|dictionary|column|user|disk|backup|host)$/

/** Returns whether a figure counts other objects than a statement such as `SELECT count() FROM system.parts`. */
const namesOtherObject = (figure: Figure, { results }: ClaimSources): boolean => {
  const objects = figure.nouns.flatMap(splitIntoWords).filter((noun) => objectWords.test(noun))
  const requests = results.map(({ request }) => request.replaceAll(/\bprocesses\b/gi, 'queries'))
  const requested = new Set(requests.flatMap(splitIntoWords))
  return requested.has('from') && objects.length > 0 && !objects.some((noun) => requested.has(noun))
}

interface ScopeColumn {
  scope: TableScope
  index: number
  sources: ClaimSources
}

const readColumn = (
  figure: Figure,
  reading: FigureReading,
  { scope: { table, rows, isNamed }, index, sources }: ScopeColumn,
): readonly CandidateValue[] => {
  const column = table.columns[index]
  if (column === undefined) return []
  if (!isNamed && table.rows.length > 1 && !canBeUnnamed(figure, column, table, sources)) return []
  const isJoint = rows.length > 1 && totalWords.test(`${figure.lead} ${figure.tail}`)
  if (isJoint && !aggregateNames.test(column.words.join(' '))) return []
  const isLimit = sources.results.some(({ request }) => /settings/i.test(request)) || isThreshold(column)
  const part =
    figure.followsOf && !isOperand(figure) && !column.words.some((word) => limitWords.has(word))
      ? figure.relatesTo
      : undefined
  const cells = rows.flatMap((row) => (row[index]?.number ? convertCell(row[index].number, reading) : []))
  // The total of `90 of 120 parts` is no part of it.
  const others = cells.filter(({ value }) => value !== part?.readings[0]?.value)
  const complemented = others.map((cell) => ({ ...complement(figure, reading, column, cell), isLimit }))
  // `At most 5 s` states the value of a maximum.
  const isMaximum =
    figure.bound === 'at most' && !figure.isUniversal && column.words.some((word) => word.startsWith('max'))
  const exact = { ...figure, bound: 'exact' as const }
  const possible = isMaximum ? complemented.filter((cell) => isWithinTolerance(exact, reading, cell)) : complemented
  return selectUniversal(figure, reading, possible)
}

const isEnd = (figure: Figure): boolean =>
  rangeWords.test(`${figure.lead} ${figure.tail}`) || (figure.relatesTo !== undefined && isEnd(figure.relatesTo))

const isThreshold = ({ words }: ResultColumn): boolean =>
  words.some((word) => /^(?:limit|threshold|quota|capacity)$/.test(word))

/** Words for a row that the claim leaves open, such as `one of the hosts`. */
const someRow = /\b(?:one of|another|some|any)\b/i
const rangeWords = /\b(?:from|between|to|range|of noon)\b|[–→]/i

/**
 * Returns whether a figure can be in any row. A figure in a table with names must name its row, unless it is about all
 * rows, or is an end of a range or of a change. Totals and extremes are computed.
 */
const canBeUnnamed = (
  figure: Figure,
  { words }: ResultColumn,
  table: ResultTable,
  { context }: ClaimSources,
): boolean => {
  const isComputed = context.hasMean || totalWords.test(figure.clause) || extremeWords.test(figure.clause)
  const isUniversal = figure.isUniversal && figure.bound !== 'exact'
  if (isComputed && !isUniversal && table.isComplete) return aggregateNames.test(words.join(' '))
  const hasNames = table.rows.some((row) => row.some(({ text }) => text))
  return !hasNames || figure.isUniversal || isEnd(figure) || someRow.test(figure.lead) || isOperand(figure)
}

/** A statement about all rows must hold for each of them, a bound for the row with the most extreme value. */
const selectUniversal = (
  figure: Figure,
  reading: FigureReading,
  cells: readonly CandidateValue[],
): readonly CandidateValue[] => {
  if (!figure.isUniversal || totalWords.test(figure.clause)) return cells
  const sorted = cells.toSorted((one, other) => one.value - other.value)
  if (/above|at least/.test(figure.bound)) return sorted.slice(0, 1)
  if (/below|at most/.test(figure.bound)) return sorted.slice(-1)
  return cells.every((cell) => isWithinTolerance(figure, reading, cell)) ? cells : []
}

const remainderWords = /^(?:left|remain|remaining|free|available|rest|todo|pending)$/

/** Returns 62.5 % for a progress of 37.5 % if the figure states what remains and the column states what is done. */
const complement = (
  figure: Figure,
  { kind }: FigureReading,
  { words }: ResultColumn,
  cell: CandidateValue,
): CandidateValue => {
  const isRemainder = kind === 'percent' && splitIntoWords(figure.clause).some((word) => remainderWords.test(word))
  return isRemainder && !words.some((word) => remainderWords.test(word)) ? { ...cell, value: 100 - cell.value } : cell
}
