import {
  canState,
  convertCell,
  countsTexts,
  findPredicate,
  findBoundColumns,
  isCount,
  isOccurrence,
  isNounOf,
  isNumeric,
  limitWords,
  readInColumn,
} from './bound-columns.ts'
import { aggregateNames, type ClaimContext, createClaimContext, extremeWords, totalWords } from './claim-context.ts'
import { computeColumns } from './column-computations.ts'
import { type CandidateValue, isWithinTolerance } from './figure-tolerance.ts'
import { extractAllFigures, extractFigures, type Figure, type FigureReading } from './figures.ts'
import { type CitedResult, type ResultColumn, type ResultTable, splitIntoWords } from './result-cells.ts'
import { selectRows, selectRowsOfFigure, type TableScope } from './row-scopes.ts'
import { computeFromFigures, type TracedFigure } from './stated-computations.ts'

/** The results that a claim cites, and the question that it answers. */
export interface FigureSources {
  results: readonly CitedResult[]
  question: string
}

const maxFigures = 64
/** Maximum passes over all figures, because a computation may use the result of another one. */
const maxRounds = 3

/**
 * Returns the figures of a claim that cannot be traced to the cited results. A figure is traced if it is the value of a
 * cell, or a count, a sum or a share of the rows that the claim names, or computed from other traced figures.
 */
export const findUntracedFigures = (claim: string, { results, question }: FigureSources): string[] => {
  const scopes = results.flatMap((result) => result.tables.map((table) => selectRows(table, claim)))
  const names = scopes.flatMap((scope) => scope.names).filter((name) => /^\d+$/.test(name))
  const figures = extractAllFigures(claim, names)
    .slice(0, maxFigures)
    .filter((figure) => !figure.isCommonWord || quantifiesResult(figure, scopes, results))
  if (figures.length === 0) return []
  const context = createClaimContext(claim, figures)
  const requested = extractFigures([question, ...results.map(({ request }) => request)].join('\n'))
  const traced = new Map<Figure, TracedFigure>()
  const rowsOf = new Map(figures.map((figure) => [figure, selectRowScopes(figure, { figures, scopes, context })]))
  for (const figure of figures) {
    const rowScopes = rowsOf.get(figure) ?? scopes
    const found = traceDirectly(figure, { context, scopes, rowScopes, results, requested })
    if (found) traced.set(figure, found)
  }
  for (let round = 0; round < maxRounds; round += 1) {
    for (const figure of figures) {
      if (traced.has(figure)) continue
      const same = figures.find(
        (other) =>
          other.text === figure.text &&
          other.followsOf === figure.followsOf &&
          traced.has(other) &&
          haveSameRows(rowsOf.get(figure), rowsOf.get(other)),
      )
      const found = (same && traced.get(same)) ?? computeFromFigures(figure, { claim, figures, traced })
      if (found) traced.set(figure, found)
    }
  }
  return [...new Set(figures.filter((figure) => !traced.has(figure)).map(({ text }) => text))]
}

const statesExistence = /\bthere (?:is|are|was|were)\s(?:currently\s|only\s)?$/i
const isSingleNumber = ({ columns, rows }: ResultTable): boolean =>
  columns.length === 1 && rows.length === 1 && rows[0]?.[0]?.number !== null
/** Returns whether the rows are intervals, such as days. */
const hasIntervals = (table: ResultTable): boolean =>
  table.columns.some(
    ({ words }, index) => /^(?:minute|hour|day|week|month)$/.test(words.at(-1) ?? '') && !isNumeric(table, index),
  )

/** Returns whether a count of the objects that follow `there are no` is in the results. */
const contradictsCount = (figure: Figure, scopes: readonly TableScope[], results: readonly CitedResult[]): boolean =>
  statesExistence.test(figure.lead) &&
  results.some((result) => isNounOf(figure, findSources(result))) &&
  scopes.some(({ table }) => table.columns.some((column, index) => isCount(column) && isNumeric(table, index)))

interface ClaimRows {
  figures: readonly Figure[]
  scopes: readonly TableScope[]
  context: ClaimContext
}

const selectRowScopes = (figure: Figure, { figures, scopes, context }: ClaimRows): readonly TableScope[] => {
  if (context.comparesRows) return scopes
  // In `rose from 5 to 12 on Monday`, the first value is in a row that the claim does not name.
  if (/\bfrom\s[~≈]?$/i.test(figure.lead))
    return scopes.map((scope) => ({ ...scope, rows: scope.table.rows, isNamed: false }))
  return scopes.map((scope) => selectRowsOfFigure(scope, figure, figures))
}

const haveSameRows = (scopes: readonly TableScope[] = [], others: readonly TableScope[] = []): boolean =>
  scopes.every(({ rows }, index) => {
    const other = others[index]?.rows ?? []
    return rows.length === other.length && rows.every((row, place) => row === other[place])
  })

/**
 * Returns whether a common number word such as `two` or `no` quantifies something in the results. `Two reasons` does
 * not. `no` counts only for numeric columns, because a condition after it would be needed to count rows.
 */
const quantifiesResult = (figure: Figure, scopes: readonly TableScope[], results: readonly CitedResult[]): boolean => {
  const isDuration = figure.readings[0]?.kind === 'seconds'
  if ((figure.isCondition && !isDuration) || /\b(?:others?|these|those|remaining)\s*$/i.test(figure.lead)) return false
  const numeric = scopes.flatMap(({ table }) =>
    table.columns.filter((column, index) => !column.isStatistic && isNumeric(table, index)),
  )
  // `The three days` are rows of a table by day.
  if (isDuration) return !scopes.some(({ table }) => countsTexts(figure, table) || hasIntervals(table))
  if (statesExistence.test(figure.lead) && scopes.some(({ table }) => isSingleNumber(table))) return true
  const nouns = [...figure.nouns, ...findPredicate(figure)]
  const quantifies = (words: readonly string[]) => isNounOf({ nouns }, words)
  if (numeric.some(({ words }) => quantifies(words))) return true
  const subject = splitIntoWords(figure.lead)
  const isUnnamed = figure.nouns.length === 0 || isNounOf(figure, genericNouns)
  if (isUnnamed && numeric.some(({ words }) => words.some((word) => word.length > 2 && subject.includes(word))))
    return true
  if (figure.readings[0]?.value === 0) return contradictsCount(figure, scopes, results)
  return (
    scopes.some(({ table }) => countsTexts(figure, table)) ||
    results.some(
      (result) => isNounOf(figure, findSources(result)) || result.summary.some((each) => quantifies(each.nouns)),
    )
  )
}

interface DirectSources {
  context: ClaimContext
  scopes: readonly TableScope[]
  /** The scopes with the rows that the figure is about, if the claim names several rows. */
  rowScopes: readonly TableScope[]
  results: readonly CitedResult[]
  requested: readonly Figure[]
}

const traceDirectly = (figure: Figure, sources: DirectSources): TracedFigure | undefined => {
  if (isVersion(figure, sources)) return { kind: 'plain', value: figure.readings[0]?.value ?? 0 }
  for (const reading of figure.readings) {
    const candidates = [
      ...readCells(figure, reading, sources),
      ...countRows(figure, reading, sources),
      ...sources.rowScopes.flatMap((own, index) => {
        const scope = sources.scopes[index] ?? own
        return computeColumns({ figure, reading, scope, own }, sources.context)
      }),
      ...readTexts(figure, reading, sources),
    ]
    const found = candidates.find((candidate) => isWithinTolerance(figure, reading, candidate))
    if (found) return { kind: isOccurrence(figure) ? 'plain' : reading.kind, value: found.value }
  }
  return undefined
}

/** Returns whether a figure such as 25.8 abbreviates a version in the results, such as 25.8.1.5101. */
const isVersion = ({ text }: Figure, { rowScopes }: DirectSources): boolean =>
  /^\d+\.\d+$/.test(text) &&
  rowScopes.some(({ rows }) =>
    rows.some((row) => row.some((cell) => cell.text?.startsWith(`${text}.`) && /^\d+(?:\.\d+){2,}/.test(cell.text))),
  )

const genericNouns: readonly string[] = ['row', 'result', 'record', 'entry', 'item', 'line', 'match']

/** Returns the cells of the rows that the claim is about, in the column that the figure names, if it names one. */
const readCells = (
  figure: Figure,
  reading: FigureReading,
  { context, rowScopes, results }: DirectSources,
): CandidateValue[] => {
  const bound = findBoundColumns(figure, reading, rowScopes)
  const hasUse = (column: ResultColumn, table: ResultTable): boolean => {
    if (column.isStatistic) return /\b(?:statement|this query)\b/i.test(context.claim)
    if (!canState(figure, reading, column, table)) return false
    if (figure.followsOf && column.words.some((word) => limitWords.has(word))) return true
    if (bound.size > 0) return bound.has(column)
    const listing = results.find(({ tables }) => tables.includes(table))
    const countsTable = countsTexts(figure, table) || (listing && listsNoun(figure, listing))
    return !countsTable || isCount(column)
  }
  const areLimits = results.some(({ request }) => /settings/i.test(request))
  return rowScopes.flatMap(({ table, rows, isNamed: isNarrowed }) => {
    // A total or an extreme of several rows is computed from all of them.
    const isComputed = context.hasMean || totalWords.test(figure.clause) || extremeWords.test(figure.clause)
    const mustCompute =
      isComputed &&
      !(figure.isUniversal && figure.bound !== 'exact') &&
      !isNarrowed &&
      table.isComplete &&
      table.rows.length > 1
    return table.columns.flatMap((column, index) => {
      if (!hasUse(column, table) || (mustCompute && !aggregateNames.test(column.words.join(' ')))) return []
      // The total may be in a row that the claim does not name.
      const read = context.comparesRows || figure.followsOf ? table.rows : rows
      const isLimit = areLimits || column.words.some((word) => limitWords.has(word))
      const cells = read.flatMap((row) =>
        row[index]?.number ? convertCell(row[index].number, readInColumn(reading, column)) : [],
      )
      return selectExtreme(
        figure,
        cells.map((cell) => ({ ...complement(figure, reading, column, cell), isLimit })),
      )
    })
  })
}

/** A bound of all rows must hold for the row with the most extreme value. */
const selectExtreme = (figure: Figure, cells: readonly CandidateValue[]): readonly CandidateValue[] => {
  if (!figure.isUniversal || totalWords.test(figure.clause)) return cells
  const sorted = cells.toSorted((one, other) => one.value - other.value)
  if (/above|at least/.test(figure.bound)) return sorted.slice(0, 1)
  return /below|at most/.test(figure.bound) ? sorted.slice(-1) : cells
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

const listWords = /\b(?:return|result|list|match|found|finds|output)/i

/** Returns the numbers of rows and of distinct texts that the figure may count, according to the noun after it. */
const countRows = (
  figure: Figure,
  reading: FigureReading,
  { context, scopes, results }: DirectSources,
): CandidateValue[] => {
  if (reading.kind !== 'plain') return []
  const isGeneric = isNounOf(figure, genericNouns) && listWords.test(context.claim)
  const bound = findBoundColumns(figure, reading, scopes)
  // Durations and sizes of queries do not count queries.
  const hasNumber = [...bound].some(
    ({ unit, words }) => unit === null && isNounOf({ nouns: figure.nouns.slice(0, 1) }, words),
  )
  const countsNoun = !hasNumber && scopes.some(({ table }) => countsTexts(figure, table))
  if (!isGeneric && !countsNoun && bound.size > 0) return []
  const counts = results.flatMap((result) => {
    const isNarrowed = scopes.some((scope) => scope.isNamed && result.tables.includes(scope.table))
    return isGeneric || (!isNarrowed && listsNoun(figure, result)) ? result.rowCounts : []
  })
  const counted = scopes.flatMap(({ table, rows, isNamed: isNarrowed, names }) => {
    if (table.columns.some(({ isStatistic }) => isStatistic)) return []
    const distinct = table.columns.flatMap(({ words }, index) => {
      if (!isNounOf(figure, words) || isNumeric(table, index)) return []
      const texts = new Set(rows.map((row) => row[index]?.text))
      return [table.isComplete ? texts.size : [], isNarrowed ? names.length : []].flat()
    })
    return [...distinct, ...(isNounOf(figure, table.words) || distinct.length > 0 ? [rows.length] : [])]
  })
  return [...counts, ...counted].map((value) => ({ value }))
}

/** Returns whether the rows of a result are what the figure counts: `SELECT name FROM system.tables` lists tables. */
const listsNoun = (figure: Figure, { tables, request }: CitedResult): boolean => {
  if (/\b(?:group\s+by|count|sum|avg|max|min|uniq\w*|quantile\w*)\b/i.test(request)) return false
  const results = tables.filter(({ columns }) => !columns.some(({ isStatistic }) => isStatistic))
  if (results.some(({ rows }) => rows.length === 1 && rows[0]?.some(({ number }) => number))) return false
  return isNounOf(figure, findSources({ request }))
}

/** Returns the words of the tool and of the tables that a result was read from. */
const findSources = ({ request }: Pick<CitedResult, 'request'>): string[] => {
  const [tool = ''] = request.split('\n')
  const sources = [...request.matchAll(/\b(?:from|join)\s+([\w.`"]+)/gi)].map(([, source = '']) => source)
  return splitIntoWords([tool === 'query' ? '' : tool, ...sources].join(' '))
}

/** Returns the figures of texts: the summary, messages in cells and, for conditions, the request and the question. */
const readTexts = (figure: Figure, reading: FigureReading, sources: DirectSources): CandidateValue[] => {
  const { kind } = reading
  const { context, scopes, results, requested } = sources
  const inCells = scopes.flatMap(({ table, rows }) =>
    (context.comparesRows ? table.rows : rows).flatMap((row) => row.flatMap(({ figures }) => figures)),
  )
  const isRequested = figure.isCondition || /\b(?:you|your|question|requested)\b/i.test(context.claim)
  // A summary may describe a different row than the one that the claim names.
  const bound = findBoundColumns(figure, reading, scopes)
  const isAboutRow = scopes.some((scope) => scope.isNamed && scope.table.columns.some((column) => bound.has(column)))
  // A summary such as `3 rows, complete` counts rows, not what a claim counts.
  const summaries = results
    .flatMap(({ summary }) => summary)
    .filter(
      (found) => !isNounOf(found, genericNouns) || (isNounOf(figure, genericNouns) && listWords.test(context.claim)),
    )
  // A statement may write `the last 7 days` as `today() - 7`.
  const windows = figure.isCondition && kind === 'seconds' ? requested : []
  const inWindows = windows
    .flatMap(({ readings }) => readings)
    .filter((found) => found.kind === 'plain')
    .map(({ value }) => ({ kind, scale: 1, value: value * reading.scale, tolerance: 0 }))
  return [...inCells, ...(isAboutRow ? [] : summaries), ...(isRequested ? requested : [])]
    .flatMap(({ readings }) => readings)
    .filter((found) => found.kind === kind)
    .concat(inWindows)
    .map(({ value, scale, tolerance }) => ({ value, tolerance: scale === 1 ? 0 : tolerance, isLimit: true }))
}
