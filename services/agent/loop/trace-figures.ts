import { extractFigures, type Figure, type FigureKind, type FigureReading, isWithinTolerance } from './figures.ts'
import { differencePattern, computeFromFigures, type TracedFigure } from './stated-computations.ts'
import {
  type CitedResult,
  type NumberCell,
  type ResultColumn,
  type ResultTable,
  splitIntoWords,
} from './result-cells.ts'

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
  const figures = extractFigures(claim).slice(0, maxFigures)
  if (figures.length === 0) return []
  const context = createClaimContext(claim)
  const scopes = results.flatMap((result) => result.tables.map((table) => selectRows(table, context)))
  const requested = extractFigures([question, ...results.map(({ request }) => request)].join('\n'))
  const traced = new Map<Figure, TracedFigure>()
  for (const figure of figures) {
    const found = traceDirectly(figure, { context, scopes, results, requested })
    if (found) traced.set(figure, found)
  }
  for (let round = 0; round < maxRounds; round += 1) {
    for (const figure of figures) {
      if (traced.has(figure)) continue
      const same = figures.find((other) => other.text === figure.text && traced.has(other))
      const found = (same && traced.get(same)) ?? computeFromFigures(figure, { claim, figures, traced })
      if (found) traced.set(figure, found)
    }
  }
  return [...new Set(figures.filter((figure) => !traced.has(figure)).map(({ text }) => text))]
}

/** A claim, its words, and whether it compares rows or states averages or extremes. */
interface ClaimContext {
  claim: string
  words: ReadonlySet<string>
  /** Whether the claim also refers to rows that it does not name, such as `the next largest`. */
  comparesRows: boolean
  hasMean: boolean
  hasAverage: boolean
  hasExtreme: boolean
}

const createClaimContext = (claim: string): ClaimContext => ({
  claim,
  words: new Set(splitIntoWords(claim)),
  comparesRows: /\b(?:next|others?|second|third|rest|remaining|average|median|typical|compared|versus|vs)\b/i.test(
    claim,
  ),
  hasMean: /\b(?:averages?|mean|avg)\b/i.test(claim),
  hasAverage: /\b(?:average|averages|mean|avg|per|typical(?:ly)?)\b/i.test(claim),
  hasExtreme: extremeWords.test(claim),
})

/** A table with the rows that a claim is about. */
interface TableScope {
  table: ResultTable
  /** The rows with a text that also occurs in the claim; all rows if there are none. */
  rows: ResultTable['rows']
  isNamed: boolean
  /** The number of distinct texts in these rows that occur in the claim. */
  names: number
}

/** Selects the rows that a claim names. Among several matching columns, the one with the most distinct values is used. */
const selectRows = (table: ResultTable, { claim }: ClaimContext): TableScope => {
  const candidates = table.columns.flatMap((_column, index) => {
    const texts = new Set(table.rows.flatMap((row) => row[index]?.text ?? []))
    const named = new Set([...texts].filter((text) => isNamed(claim, text)))
    return named.size > 0 ? [{ index, named, texts: texts.size }] : []
  })
  const [best] = candidates.toSorted((one, other) => other.texts - one.texts)
  if (best === undefined) return { table, rows: table.rows, isNamed: false, names: 0 }
  const rows = table.rows.filter((row) => best.named.has(row[best.index]?.text ?? ''))
  return { table, rows, isNamed: rows.length < table.rows.length, names: best.named.size }
}

const minNameLength = 2
const maxNameLength = 256

const isNamed = (claim: string, text: string): boolean => {
  if (text.length < minNameLength || text.length > maxNameLength) return false
  for (let at = claim.indexOf(text); at !== -1; at = claim.indexOf(text, at + 1)) {
    const around = `${claim.charAt(at - 1)} ${claim.charAt(at + text.length)}`
    if (!/[\p{L}\p{N}_]/u.test(around)) return true
  }
  return false
}

interface DirectSources {
  context: ClaimContext
  scopes: readonly TableScope[]
  results: readonly CitedResult[]
  requested: readonly Figure[]
}

const traceDirectly = (figure: Figure, sources: DirectSources): TracedFigure | undefined => {
  for (const reading of figure.readings) {
    const candidates = [
      ...readCells(figure, reading, sources),
      ...countRows(figure, reading, sources),
      ...computeColumns(figure, reading, sources),
      ...readTexts(figure, reading, sources),
    ]
    const found = candidates.find(({ value, tolerance }) => isWithinTolerance(figure, reading, value, tolerance))
    if (found) return { kind: reading.kind, value: found.value }
  }
  return undefined
}

/** A value that a figure may state, with its rounding tolerance. */
interface Candidate {
  value: number
  tolerance: number
}

/** Converts a cell to the unit of a figure. A cell without a known unit may have the unit of the figure. */
const convertCell = ({ value, unit, tolerance }: NumberCell, { kind, scale }: FigureReading): Candidate[] => {
  const scaled = (...factors: readonly number[]) =>
    factors.map((factor) => ({ value: value * factor, tolerance: tolerance * factor }))
  const isShare = value >= 0 && value <= 1
  if (unit?.kind === kind) return scaled(unit.scale, ...(kind === 'percent' && isShare ? [100] : []))
  if (kind === 'plain') return scaled(1)
  if (unit !== null) return []
  if (kind === 'bytes') return scaled(1, scale)
  if (kind === 'seconds') return scaled(scale, 1, 1e-3)
  return kind === 'percent' && isShare ? scaled(1, 100) : scaled(1)
}

const genericNouns: readonly string[] = ['row', 'result', 'record', 'entry', 'item', 'line', 'match']
/** Returns whether one of the words after the figure is a word of the name. */
const isNounOf = (figure: Figure, words: readonly string[]): boolean =>
  figure.nouns.some((noun) => splitIntoWords(noun).some((word) => word.length > 2 && words.includes(word)))

const isNumeric = ({ rows }: ResultTable, index: number): boolean => rows.some((row) => row[index]?.number)

/** Returns whether the values of a column can have the unit of a figure. */
const canHaveUnit = ({ unit }: ResultColumn, { kind }: FigureReading): boolean =>
  kind === 'plain' || unit === null || unit.kind === kind

/**
 * Returns the numeric columns that a figure is about. These are the columns named by the words after it or by its
 * clause, otherwise those with its unit.
 */
const findBoundColumns = (figure: Figure, reading: FigureReading, scopes: readonly TableScope[]): Set<ResultColumn> => {
  const numeric = scopes.flatMap(({ table }) =>
    table.columns.filter(
      (column, index) => !column.isStatistic && isNumeric(table, index) && canHaveUnit(column, reading),
    ),
  )
  const byNoun = numeric.filter(({ words }) => isNounOf(figure, words))
  // In `3 TiB of 4 TiB are free`, the total is in a different column than the free space.
  const clause = new Set(figure.followsOf ? [] : splitIntoWords(figure.clause))
  const byClause = numeric.filter(({ words }) => words.some((word) => word.length > 2 && clause.has(word)))
  const named = [...byNoun, ...byClause]
  return new Set(named.length > 0 ? named : numeric.filter(({ unit }) => unit?.kind === reading.kind))
}

/** Returns whether a figure counts the texts of a column or the records of a list, such as `5 tables`. */
const countsTexts = (figure: Figure, { words, columns, rows }: ResultTable): boolean =>
  isNounOf(figure, words) ||
  columns.some((column, index) => isNounOf(figure, column.words) && rows.some((row) => row[index]?.text))

/** Words in the names of columns that contain totals, such as the 12 in `5 of 12 parts`. */
const limitWords: ReadonlySet<string> = new Set(['limit', 'max', 'maximum', 'total', 'capacity', 'quota'])
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

const isCount = ({ words }: ResultColumn): boolean => words.some((word) => countWords.has(word))

/** Returns the cells of the rows that the claim is about, in the column that the figure names, if it names one. */
const readCells = (figure: Figure, reading: FigureReading, { context, scopes }: DirectSources): Candidate[] => {
  const bound = findBoundColumns(figure, reading, scopes)
  const hasUse = (column: ResultColumn, table: ResultTable): boolean => {
    if (column.isStatistic) return /\b(?:statement|this query)\b/i.test(context.claim)
    if (figure.followsOf && column.words.some((word) => limitWords.has(word))) return true
    if (bound.size > 0) return bound.has(column)
    return !countsTexts(figure, table) || isCount(column)
  }
  return scopes.flatMap(({ table, rows, isNamed: isNarrowed }) => {
    // A total or an extreme of several rows is computed from all of them.
    const isComputed = context.hasMean || totalWords.test(figure.clause) || extremeWords.test(figure.clause)
    const mustCompute = isComputed && !isNarrowed && table.isComplete && table.rows.length > 1
    return table.columns.flatMap((column, index) => {
      if (!hasUse(column, table) || (mustCompute && !aggregateNames.test(column.words.join(' ')))) return []
      // The total may be in a row that the claim does not name.
      const read = context.comparesRows || figure.followsOf ? table.rows : rows
      return read.flatMap((row) => (row[index]?.number ? convertCell(row[index].number, reading) : []))
    })
  })
}

/** The names of columns whose values are totals or averages themselves. */
const aggregateNames = /\b(?:total|sum|avg|average|mean|max|min|median|quantile)\b/
const totalWords = /\b(?:in total|total of|sum of|together|altogether|combined|in all|overall|across all)\b/i
/** Words after which a claim about one row may state the total of all rows, such as `all tables together`. */
const allWords = /\b(?:all|both|together|combined|overall)\b/i
const extremeWords =
  /\b(?:max(?:imum)?|min(?:imum)?|largest|smallest|highest|lowest|longest|shortest|biggest|slowest|fastest|peaks?|(?<!at )most|fewest|(?<!at )least|oldest|newest)\b/i
const listWords = /\b(?:return|result|list|match|found|finds|output)/i

/** Returns the numbers of rows and of distinct texts that the figure may count, according to the noun after it. */
const countRows = (
  figure: Figure,
  reading: FigureReading,
  { context, scopes, results }: DirectSources,
): Candidate[] => {
  if (reading.kind !== 'plain') return []
  const isGeneric = isNounOf(figure, genericNouns) && listWords.test(context.claim)
  if (!isGeneric && findBoundColumns(figure, reading, scopes).size > 0) return []
  const counts = results.flatMap((result) => {
    const isNarrowed = scopes.some((scope) => scope.isNamed && result.tables.includes(scope.table))
    return isGeneric || (!isNarrowed && listsNoun(figure, result)) ? result.rowCounts : []
  })
  const counted = scopes.flatMap(({ table, rows, isNamed: isNarrowed, names }) => {
    if (table.columns.some(({ isStatistic }) => isStatistic)) return []
    const distinct = table.columns.flatMap(({ words }, index) => {
      if (!isNounOf(figure, words) || isNumeric(table, index)) return []
      const texts = new Set(rows.map((row) => row[index]?.text))
      return [table.isComplete ? texts.size : [], isNarrowed ? names : []].flat()
    })
    return [...distinct, ...(isNounOf(figure, table.words) || distinct.length > 0 ? [rows.length] : [])]
  })
  return [...counts, ...counted].map(toCandidate)
}

/** Returns whether the rows of a result are what the figure counts: `SELECT name FROM system.tables` lists tables. */
const listsNoun = (figure: Figure, { tables, request }: CitedResult): boolean => {
  if (/\b(?:group\s+by|count|sum|avg|max|min|uniq\w*|quantile\w*)\b/i.test(request)) return false
  if (tables.some(({ rows }) => rows.length === 1 && rows[0]?.some(({ number }) => number))) return false
  const [tool = ''] = request.split('\n')
  const sources = [...request.matchAll(/\b(?:from|join)\s+([\w.`"]+)/gi)].map(([, source = '']) => source)
  return isNounOf(figure, splitIntoWords([tool === 'query' ? '' : tool, ...sources].join(' ')))
}

const toCandidate = (value: number): Candidate => ({ value, tolerance: 0 })

/** Returns the sums, shares, averages and ratios of the columns that the claim names. */
const computeColumns = (figure: Figure, reading: FigureReading, sources: DirectSources): Candidate[] =>
  sources.scopes.flatMap((scope) => {
    const { table } = scope
    if (!table.isComplete) return []
    const numeric = table.columns.flatMap((column, index) =>
      !column.isStatistic && isNumeric(table, index) ? [{ column, index }] : [],
    )
    const named = numeric.filter(({ column }) =>
      column.words.some((word) => word.length > 2 && sources.context.words.has(word)),
    )
    const bound = named.filter(({ column }) => isNounOf(figure, column.words))
    const sameUnit = numeric.filter(({ column }) => column.unit !== null && column.unit.kind === reading.kind)
    const counts = countsTexts(figure, table) ? numeric.filter(({ column }) => isCount(column)) : []
    const used =
      [bound, named, sameUnit, counts].find((list) => list.length > 0) ?? (numeric.length === 1 ? numeric : [])
    return [
      ...used.flatMap(({ index }) => computeColumn({ figure, reading, index }, scope, sources.context)),
      ...computeUsedShares(numeric, { clause: figure.clause, kind: reading.kind }, scope),
    ]
  })

const computeColumn = (
  { figure, reading, index }: { figure: Figure; reading: FigureReading; index: number },
  { table, rows, isNamed: isNarrowed }: TableScope,
  { claim, hasMean, hasAverage, hasExtreme }: ClaimContext,
): Candidate[] => {
  const numbersOf = (list: ResultTable['rows']) => list.flatMap((row) => row[index]?.number ?? [])
  const [all, chosen] = [numbersOf(table.rows), numbersOf(rows)]
  const unit = all[0]?.unit ?? null
  const convert = (value: number) => convertCell({ value, unit, tolerance: 0 }, reading)
  const sum = (list: readonly NumberCell[]) => list.reduce((total, { value }) => total + value, 0)
  const values = all.map(({ value }) => value)
  const [one, two, ...more] = chosen.map(({ value }) => value)
  const isPair = one !== undefined && two !== undefined && more.length === 0
  const low = isPair ? Math.min(one, two) : 0
  const high = isPair ? Math.max(one, two) : 0
  const mayBeTotal = !isNarrowed || figure.followsOf || allWords.test(claim)
  const isOther = (hasMean || hasExtreme) && !totalWords.test(claim)
  const summed = isOther ? [] : [...(mayBeTotal ? [all] : []), chosen]
  if (reading.kind === 'times') return isPair && low > 0 ? [toCandidate(high / low)] : []
  if (reading.kind === 'percent') {
    const isShare = isNarrowed && sum(all) > 0
    const isChange = isPair && low > 0 && differencePattern.test(claim)
    return [
      ...(isShare ? [toCandidate((100 * sum(chosen)) / sum(all))] : []),
      ...(isChange ? [(high - low) / low, (high - low) / high].map((share) => toCandidate(100 * share)) : []),
    ]
  }
  return [
    ...summed.flatMap((list) => (list.length > 1 ? convert(sum(list)) : [])),
    ...(isPair && differencePattern.test(claim) ? convert(high - low) : []),
    ...(hasAverage ? [all, chosen].flatMap((list) => (list.length > 1 ? convert(sum(list) / list.length) : [])) : []),
    ...(hasExtreme ? [Math.min(...values), Math.max(...values)].flatMap(convert) : []),
  ]
}

/** Returns values as percentages of the total in the same row, such as used bytes of total bytes. */
const computeUsedShares = (
  numeric: readonly { column: ResultColumn; index: number }[],
  { clause, kind }: { clause: string; kind: FigureKind },
  { table, rows, isNamed: isNarrowed }: TableScope,
): Candidate[] => {
  if (kind !== 'percent' || !(isNarrowed || table.rows.length === 1)) return []
  const hasWord = (column: ResultColumn, pattern: RegExp) => column.words.some((word) => pattern.test(word))
  const totals = numeric.filter(({ column }) => hasWord(column, /^(?:total|limit|max|maximum|capacity|quota)$/))
  const parts = numeric.filter(({ column }) =>
    hasWord(column, /^(?:used|usage|free|available|unreserved|current|value|part)$/),
  )
  return totals.flatMap((total) =>
    parts.flatMap((part) =>
      rows.flatMap((row) => {
        const [whole, share] = [row[total.index]?.number?.value ?? 0, row[part.index]?.number?.value]
        if (part === total || share === undefined || whole <= 0) return []
        const isFree = hasWord(part.column, /^(?:free|available|unreserved)$/)
        const wantsFree = /\b(?:free|available|left|remain(?:s|ing)?)\b/i.test(clause)
        return [toCandidate(100 * (isFree === wantsFree ? share / whole : 1 - share / whole))]
      }),
    ),
  )
}

/** Returns the figures of texts: the summary, messages in cells and, for conditions, the request and the question. */
const readTexts = (figure: Figure, reading: FigureReading, sources: DirectSources): Candidate[] => {
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
  return [...inCells, ...(isAboutRow ? [] : summaries), ...(isRequested ? requested : [])]
    .flatMap(({ readings }) => readings)
    .filter((found) => found.kind === kind)
    .map(({ value, scale, tolerance }) => ({ value, tolerance: scale === 1 ? 0 : tolerance }))
}
