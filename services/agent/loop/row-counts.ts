import {
  countsTexts,
  findBoundColumns,
  findPredicate,
  isCount,
  isGeneric,
  isNounOf,
  isNumeric,
} from './bound-columns.ts'
import type { ClaimSources } from './claim-sources.ts'
import { type CandidateValue, satisfiesBound } from './figure-tolerance.ts'
import type { Figure, FigureReading } from './figures.ts'
import { type CitedResult, findNameOfValue, type ResultCell, type ResultTable } from './result-cells.ts'
import type { TableScope } from './row-scopes.ts'
import { createStateFilter, type RowFilter } from './row-states.ts'
import { splitIntoWords } from './words.ts'

export const genericNouns: readonly string[] = ['row', 'result', 'record', 'entry', 'item', 'line', 'match']
export const listWords = /\b(?:return|result|list|match|found|finds|output)/i

/** Returns the numbers of rows and of distinct texts that the figure may count, according to the noun after it. */
export const countRows = (figure: Figure, reading: FigureReading, sources: ClaimSources): CandidateValue[] => {
  const qualified = countQualified(figure, sources)
  if (qualified.length > 0) return qualified.map((value) => ({ value: value * reading.scale }))
  const intervals = (sources.rowsOf.get(figure) ?? []).filter(({ table }) => countsIntervals(figure, table))
  if (intervals.length > 0) return intervals.map(({ table }) => ({ value: table.rows.length * reading.scale }))
  if (reading.kind !== 'plain') return []
  const { context, results } = sources
  const scopes = sources.rowsOf.get(figure) ?? []
  const hasGenericNoun =
    isNounOf(figure, genericNouns) && (listWords.test(context.claim) || namesSource(figure, results))
  const bound = findBoundColumns(figure, reading, scopes)
  const countsNoun = !countsColumn(figure, reading, scopes) && scopes.some(({ table }) => countsTexts(figure, table))
  if (!hasGenericNoun && !countsNoun && bound.size > 0) return []
  const counts = results.flatMap((result) => {
    const named = scopes.find((scope) => isNarrowed(figure, scope) && result.tables.includes(scope.table))
    const ofNoun = listsRows(figure, result) ? (named ? [named.rows.length] : result.rowCounts) : []
    return hasGenericNoun ? result.rowCounts : ofNoun
  })
  return [...counts, ...scopes.flatMap((scope) => countScope(figure, scope))].map((value) => ({ value }))
}

/** Returns whether a column contains the count. Durations and sizes of queries do not count queries. */
const countsColumn = (figure: Figure, reading: FigureReading, scopes: readonly TableScope[]): boolean =>
  [...findBoundColumns(figure, reading, scopes)].some(
    ({ unit, words, isPlural }) => unit === null && isPlural && isNounOf({ nouns: figure.nouns.slice(0, 1) }, words),
  )

/**
 * Returns whether names narrow the rows of a count. In `Of the two tables, one is read-only: lines`, the name at the end
 * does not, nor does the subject in `bi ran two of the three queries` narrow the total.
 */
const isNarrowed = (figure: Figure, { isNamed, isNamedLater = false }: TableScope): boolean =>
  isNamed && !isNamedLater && !figure.followsOf

const countScope = (figure: Figure, scope: TableScope): number[] => {
  const { table, names } = scope
  const isNamed = isNarrowed(figure, scope)
  const rows = isNamed ? scope.rows : table.rows
  if (table.columns.some(({ isStatistic }) => isStatistic)) return []
  const all = scope.isCarried ? countScope(figure, { ...scope, isNamed: false, isCarried: false }) : []
  const distinct = table.columns.flatMap(({ words }, index) => {
    if (!isNounOf(figure, words) || isNumeric(table, index)) return []
    const texts = new Set(rows.map((row) => row[index]?.text))
    const own = names.filter((name) => texts.has(name))
    return [table.isComplete ? texts.size : [], isNamed && own.length > 0 ? own.length : []].flat()
  })
  return [...all, ...distinct, ...(isNounOf(figure, table.words) || isKey(figure, table) ? [rows.length] : [])]
}

/** Returns whether each row has another of the texts that the figure counts. */
const isKey = (figure: Figure, { columns, rows }: ResultTable): boolean =>
  columns.some(({ words, texts }) => texts.length === rows.length && isNounOf(figure, words))

/** Returns the numbers of rows in the state that the words after the figure state, as in `two backups failed`. */
export const countQualified = (figure: Figure, sources: ClaimSources): number[] =>
  countStates(figure, sources).map(({ count }) => count)

/** Returns whether the figure counts rows that its nouns name, so that no other value can be meant. */
export const isCountOfRows = (figure: Figure, sources: ClaimSources): boolean =>
  countStates(figure, sources).some(({ isNoun }) => isNoun)

const countStates = (figure: Figure, sources: ClaimSources): { count: number; isNoun: boolean }[] => {
  const scopes = sources.rowsOf.get(figure) ?? []
  const [reading] = figure.readings
  const isCount = reading?.kind === 'plain' || scopes.some(({ table }) => countsIntervals(figure, table))
  if (figure.followsOf || !isCount || (reading && countsColumn(figure, reading, scopes))) return []
  const total = sources.figures[sources.figures.indexOf(figure) + 1]
  // In `two of four views failed`, the words after the total are about both.
  const tail = total?.followsOf ? total.tail : figure.tail
  return scopes.flatMap((scope) => {
    const { table, rows, isNamedLater = false } = scope
    if (rows.length === 0 || table.columns.some(({ isStatistic }) => isStatistic)) return []
    const conditions = findConditionFilters(figure, scope, sources)
    const isListed = sources.results.some((result) => result.tables.includes(table) && listsRows(figure, result))
    const isNoun = isListed || conditions.length > 0 || countsTexts(figure, table) || countsIntervals(figure, table)
    if (!isNoun && !/^\s*(?:of\s(?:them|which|these)|are|is|was|were|has|have)\b/.test(tail)) return []
    const filters = [...findStateFilters(tail, scope), ...conditions]
    if (filters.length === 0) return []
    const isCounted = (row: readonly ResultCell[]) => filters.every((filter) => filter(row))
    // In `one of three backups failed: full.zip`, this backup must have failed.
    if (isNamedLater && scope.isNamed && !rows.some(isCounted)) return [{ count: Number.NaN, isNoun }]
    return [{ count: (isNamedLater ? table.rows : rows).filter(isCounted).length, isNoun }]
  })
}

/** Returns filters for the words after a figure that are states of some of its rows. */
const findStateFilters = (tail: string, { table, rows }: TableScope): RowFilter[] => {
  const words = splitIntoWords(tail).filter((word) => word.length > 2 && !/^(?:total|together|combined)$/.test(word))
  const isName = (word: string) => table.columns.some(({ words: own, texts }) => own.includes(word) && texts.length > 0)
  return words.flatMap((word) => {
    const filter = createStateFilter(word, table)
    return !isName(word) && rows.some(filter) ? [filter] : []
  })
}

/** Returns the filter of a condition after the figure, as in `3 tables have more than 30 parts`. */
const findConditionFilters = (figure: Figure, scope: TableScope, { figures }: ClaimSources): RowFilter[] => {
  const condition = findCondition(figure, figures)
  if (condition === undefined || scope.table.rows.length < 2) return []
  return condition.readings.flatMap((reading) => {
    const columns = findBoundColumns(condition, reading, [scope])
    const indexes = scope.table.columns.flatMap((column, index) => (columns.has(column) ? [index] : []))
    if (indexes.length !== 1) return []
    return [
      (row: readonly ResultCell[]) => indexes.every((index) => satisfiesBound(condition, reading, row[index]?.number)),
    ]
  })
}

const findCondition = (figure: Figure, figures: readonly Figure[]): Figure | undefined => {
  const next = figures[figures.indexOf(figure) + (figure.isPart ? 2 : 1)]
  const isJoined = !/[.;:()|,]|\b(?:and|but|while|with)\b/.test(figure.gap)
  return isJoined && next !== undefined && /above|below|at/.test(next.bound) ? next : undefined
}

/** Returns whether a figure is the condition of a count that was taken with it. */
export const isConditionOfCount = (figure: Figure, sources: ClaimSources): boolean => {
  const counted = sources.figures.find((each) => findCondition(each, sources.figures) === figure)
  const counts = counted ? countQualified(counted, sources) : []
  return counts.some((count) => counted?.readings.some(({ value, scale }) => value === count * scale))
}

/** Returns whether each row is one of the counted objects. A row of `system.errors` counts errors itself. */
const listsRows = (figure: Figure, result: CitedResult): boolean =>
  listsNoun(figure, result) &&
  !result.tables.some((table) => table.columns.some((column, index) => isGeneric(column) && isNumeric(table, index)))

/** Returns whether the rows of a result are what the figure counts: `SELECT name FROM system.tables` lists tables. */
export const listsNoun = (figure: Pick<Figure, 'nouns'>, result: CitedResult): boolean =>
  isListing(result) && isNounOf(figure, findSources(result))

/** Returns whether a result lists records and aggregates nothing. */
const isListing = ({ tables, request }: CitedResult): boolean => {
  if (/\b(?:group\s+by|count|sum|avg|max|min|uniq\w*|quantile\w*)\b/i.test(request)) return false
  const results = tables.filter(({ columns }) => !columns.some(({ isStatistic }) => isStatistic))
  return !results.some(({ rows }) => rows.length === 1 && rows[0]?.some(({ number }) => number))
}

/** Returns whether the words before a figure name what was read, as in `the queue has 3 entries`. */
const namesSource = ({ lead }: Figure, results: readonly CitedResult[]): boolean => {
  const words = splitIntoWords(lead)
  return results.some((result) => isListing(result) && findSources(result).some((source) => words.includes(source)))
}

/** Returns the words of the tool and of the tables that a result was read from. */
export const findSources = ({ request }: Pick<CitedResult, 'request'>): string[] => {
  const [tool = ''] = request.split('\n')
  const sources = [...request.matchAll(/\b(?:from|join)\s+([\w.`"]+)/gi)].map(([, source = '']) => source)
  return splitIntoWords([tool === 'query' ? '' : tool, ...sources].join(' '))
}

const statesExistence = /\bthere (?:is|are|was|were)\s(?:currently\s|only\s)?$/i
const isSingleNumber = ({ columns, rows }: ResultTable): boolean =>
  columns.length === 1 && rows.length === 1 && rows[0]?.[0]?.number !== null
/** Returns whether the rows are intervals, such as days. */
const hasIntervals = (table: ResultTable): boolean =>
  table.columns.some(
    ({ words }, index) => /^(?:minute|hour|day|week|month)$/.test(words.at(-1) ?? '') && !isNumeric(table, index),
  )

/** Whether a figure and the three words after it are in a text of a result, as in `no active replica has the part`. */
const repeatsText = ({ text, tail }: Figure, scopes: readonly TableScope[]): boolean => {
  const words = /^\S+(?:\s+\S+){3}/.exec((text + tail).toLowerCase())?.[0]
  if (words === undefined) return false
  return scopes.some(({ table }) =>
    table.rows.some((row) => row.some((cell) => cell.text?.toLowerCase().includes(words))),
  )
}

/**
 * Returns whether a common number word such as `two` or `no` quantifies something in the results. `Two reasons` does
 * not. `no` counts only for numeric columns, because a condition after it would be needed to count rows.
 */
export const quantifiesResult = (figure: Figure, sources: ClaimSources): boolean => {
  const { scopes, results } = sources
  if (repeatsText(figure, scopes)) return false
  const isDuration = figure.readings[0]?.kind === 'seconds'
  if ((figure.isCondition && !isDuration) || /\b(?:others?|these|those|remaining)\s*$/i.test(figure.lead)) return false
  const numeric = scopes.flatMap(({ table }) =>
    table.columns.filter((column, index) => !column.isStatistic && isNumeric(table, index)),
  )
  // `The three days` are rows of a table by day.
  if (isDuration && scopes.some(({ table }) => countsTexts(figure, table) || hasIntervals(table)))
    return !figure.isCondition
  if (isDuration) return true
  if (statesExistence.test(figure.lead) && scopes.some(({ table }) => isSingleNumber(table))) return true
  if (countQualified(figure, sources).length > 0) return true
  // `Six inserts are delayed` is about the metric `DelayedInserts`.
  const isOfMetric = ({ table, isNamed, isNamedLater }: TableScope) =>
    isNamed && isNamedLater !== true && findNameOfValue(table.columns) !== -1
  if (sources.rowsOf.get(figure)?.some(isOfMetric)) return true
  const nouns = [...figure.nouns, ...findPredicate(figure)]
  const quantifies = (words: readonly string[]) => isNounOf({ nouns }, words)
  if (numeric.some(({ words }) => quantifies(words))) return true
  const subject = splitIntoWords(figure.lead)
  const isUnnamed = figure.nouns.length === 0 || isNounOf(figure, genericNouns)
  if (isNounOf(figure, genericNouns) && namesSource(figure, results)) return true
  if (isUnnamed && numeric.some(({ words }) => words.some((word) => word.length > 2 && subject.includes(word))))
    return true
  if (figure.readings[0]?.value === 0) return statesExistence.test(figure.lead) && contradictsCount(figure, sources)
  return (
    scopes.some(({ table }) => countsTexts(figure, table)) ||
    results.some(
      (result) => isNounOf(figure, findSources(result)) || result.summary.some((each) => quantifies(each.nouns)),
    )
  )
}

/** Returns whether a figure such as `three days` may count the rows of a table by day. */
const countsIntervals = ({ text, readings }: Figure, { columns }: ResultTable): boolean =>
  readings[0]?.kind === 'seconds' &&
  columns.some(({ words, moments }) => moments.size > 0 && splitIntoWords(text).includes(words.at(-1) ?? ''))

/** Returns whether a count of the objects that follow `there are no` is in the results. */
const contradictsCount = (figure: Figure, { scopes, results }: ClaimSources): boolean =>
  results.some((result) => isNounOf(figure, findSources(result))) &&
  scopes.some(({ table }) => table.columns.some((column, index) => isCount(column) && isNumeric(table, index)))
