import { countsTexts, findPredicate, isNounOf, isNumeric } from './bound-columns.ts'
import { totalWords } from './claim-context.ts'
import { isPluralName } from './column-units.ts'
import { clauseEnd, type Figure, isOperand } from './figures.ts'
import { findNameOfValue, type ResultTable } from './result-cells.ts'
import { findNameColumns, findSimilarNames, type NameColumn, toName } from './row-names.ts'
import { createStateFilter } from './row-states.ts'
import { splitIntoWords } from './words.ts'

/** A table with the rows that a claim or one of its figures is about. */
export interface TableScope {
  table: ResultTable
  /** The named rows; all rows if none is named. */
  rows: ResultTable['rows']
  isNamed: boolean
  /** Whether only a later part of the claim names the rows. */
  isNamedLater?: boolean
  /** Whether only the words before the previous figure name the rows. */
  isCarried?: boolean
  /** The cells that occur in the claim and name the rows. */
  names: readonly string[]
}

/** The names of rows by the column that contains them. */
type RowNames = ReadonlyMap<NameColumn, readonly string[]>

/** Selects the rows that a claim names. */
export const selectRows = (table: ResultTable, claim: string): TableScope => {
  const columns = findNameColumns(table, claim)
  return selectNamed(table, new Map(columns.map((column) => [column, column.find(claim)])))
}

/**
 * Selects the rows that each figure is about. They are named between the previous figure and this one, or after it in
 * its clause; otherwise they are those of the previous figure.
 */
export const selectRowsOfFigures = (
  table: ResultTable,
  claim: string,
  figures: readonly Figure[],
): Map<Figure, TableScope> => {
  const columns = findNameColumns(table, claim)
  const scopes = new Map<Figure, TableScope>()
  let carried: RowNames = new Map()
  let compared: RowNames = new Map()
  for (const [place, figure] of figures.entries()) {
    const lead = removeTail(figure.lead, figures[place - 1])
    // Names in parentheses after the previous figure are about that figure.
    const [aside = ''] = /^\s*\([^()]*\)/.exec(lead) ?? []
    carried = new Map([...carried, ...findLast(columns, aside)])
    const before = lead.slice(aside.length)
    const parts = {
      figure,
      before,
      after: findAfter(table, figures, place),
      next: figure.following,
      isTotalOfNext: /^\s*of (?:them|these|which)\b/.test(figures[place + 1]?.tail ?? ''),
    }
    const own = findOwnNames(columns, parts, carried)
    const rows = findListed(columns, { figures, place, compared })
    const scope = rows ? selectNamed(table, rows) : selectOwn(table, columns, { ...parts, own, carried, claim })
    scopes.set(figure, figure.followsOf ? scope : selectState(figure, scope))
    compared = comparesRows(figure) ? own : listSeparator.test(figure.gap) ? compared : new Map()
    carried = new Map([...carried, ...own, ...(comparesRows(figure) ? findLast(columns, figure.tail) : [])])
  }
  return scopes
}

/** The text around a figure: from the previous figure, up to the end of its clause, and up to the next figure. */
interface FigureParts {
  figure: Figure
  before: string
  after: string
  next: string
  /** Whether the next figure is a part of this one, as in `9 files, 6 of them`. */
  isTotalOfNext: boolean
}

/** Returns the words after a figure that are about it. A count is also about those after `with` or after its total. */
const findAfter = (table: ResultTable, figures: readonly Figure[], place: number): string => {
  const [figure, next] = [figures[place], figures[place + 1]]
  // The words after a total are about its part.
  if (figure === undefined) return ''
  if (figure.followsOf) return findNameOfValue(table.columns) === -1 ? '' : (figure.nouns[0] ?? '')
  const [clause = ''] = `${figure.following}${figure.isPart ? (next?.following ?? '') : ''}`.split(/[,;:()|\n]|[.!?]\s/)
  return figure.isPart || figure.isCommonWord || countsTexts(figure, table) ? clause : findTail(figure)
}

/** Returns the words after a figure in its clause, including those after `with`. */
const findTail = ({ tail, following }: Figure): string =>
  tail.trimStart().startsWith('(') ? tail : (following.split(clauseEnd)[0] ?? '')

/** Removes the words that belong to the previous figure. */
const removeTail = (lead: string, previous: Figure | undefined): string => {
  const tail = previous ? findTail(previous) : ''
  const at = tail === '' ? -1 : lead.indexOf(tail)
  const rest = at === -1 ? lead : lead.slice(at + tail.length)
  // In `as often as lines (18)` and `lines 18`, the words before the figure are about it.
  const isJoined =
    /^\s*(?:with|\()?\s*$/.test(rest) && !/\b(?:to|and|or|than|vs|against|by|of|at|in|from|for|on)\s*$/i.test(lead)
  return isJoined ? lead : rest
}

const findLast = (columns: readonly NameColumn[], text: string): [NameColumn, readonly string[]][] =>
  columns.flatMap((column) => {
    const names = column.find(text)
    return names.length > 0 ? [[column, names]] : []
  })

const comparison = /\b(?:as|than|over|versus|vs|that of|those of|times the|the \p{L}+ of|parts of)\b/iu

/** Returns whether a figure relates two rows, as in `twice as many parts as lines`. */
export const comparesRows = ({ readings: [reading], isDifference, lead, tail }: Figure): boolean =>
  (isDifference || reading?.kind === 'times' || reading?.kind === 'percent') && comparison.test(`${lead} ${tail}`)

/** Returns the names around a figure. A figure that relates two rows may also relate to the row of the previous one. */
const findOwnNames = (
  columns: readonly NameColumn[],
  { figure, before, after }: FigureParts,
  carried: RowNames,
): RowNames =>
  new Map(
    columns.flatMap((column): [NameColumn, readonly string[]][] => {
      const [named, following] = [column.find(before), column.find(after)]
      if (comparesRows(figure)) {
        const near = [...new Set([...named, ...following])]
        const all = near.length > 1 ? near : [...new Set([...(carried.get(column) ?? []), ...near])]
        return all.length > 0 ? [[column, all]] : []
      }
      const both = named.filter((name) => following.includes(name))
      const own = [both, named, following].find((names) => names.length > 0)
      return own ? [[column, own]] : []
    }),
  )

/** Returns the name of the figure in lists of equal length, such as `orders and lines have 300 and 150 parts`. */
const findListed = (
  columns: readonly NameColumn[],
  { figures, place, compared }: ListedFigure,
): RowNames | undefined => {
  let begin = place
  while (begin > 0 && listSeparator.test(figures[begin - 1]?.gap ?? '')) begin -= 1
  let end = place
  while (listSeparator.test(figures[end]?.gap ?? '') && end < figures.length - 1) end += 1
  const lead = removeTail(figures[begin]?.lead ?? '', figures[begin - 1])
  const size = end - begin + 1
  const listed = columns.map((each) => [each, compared.get(each) ?? each.find(lead)] as const)
  const [column, names] = listed.find(([, found]) => size > 1 && found.length === size) ?? []
  const name = names?.[place - begin]
  return column && name !== undefined ? new Map([...compared, [column, [name]]]) : undefined
}

/** A figure in a list of figures, and the rows that the figure before the list compares. */
interface ListedFigure {
  figures: readonly Figure[]
  place: number
  compared: RowNames
}

const listSeparator = /^\s*(?:,|,?\s?and|,?\s?or|vs\.?|versus|against|\/|&)\s*$/

/** The names around a figure, and those that the text before them named. */
interface NamedParts extends FigureParts {
  own: RowNames
  carried: RowNames
  claim: string
}

const jointWords = /\b(?:together|combined|altogether|between them)\b/i
/** Words for rows that the claim does not name, such as `the next table`. */
const otherRows = /\b(?:next|others?|the second|rest|remaining|previous|earlier|compared|versus|vs|runner-up|before)\b/i

const selectOwn = (table: ResultTable, columns: readonly NameColumn[], parts: NamedParts): TableScope => {
  const { figure, before, after, next, isTotalOfNext, own, carried, claim } = parts
  const all: TableScope = { table, rows: table.rows, isNamed: false, names: [] }
  // In `rose from 5 to 12 on Monday`, the first value is in a row that the claim does not name.
  const isStart = /\bfrom\s[~≈]?$/i.test(figure.lead)
  // Operands are usually written after their result. Only names that are complete bind them to a row.
  const isLoose = [...carried.keys()].every(({ isMetric }) => isMetric)
  if (own.size === 0 && isOperand(figure) && isLoose) return all
  if (own.size === 0 && isStart) {
    const others = new Map([...carried].filter(([column]) => !column.isMoment))
    return others.size > 0 ? selectNamed(table, others) : all
  }
  if (own.size === 0 && carried.size > 0 && otherRows.test(`${before} ${after}`)) {
    const named = selectNamed(table, carried)
    const others = table.rows.filter((row) => !named.isNamed || !named.rows.includes(row))
    return { ...all, rows: others, isNamed: true }
  }
  const similar =
    own.size === 0 && !figure.isCommonWord
      ? selectSimilar(table, `${before} ${figure.nouns.join(' ')} ${after}`)
      : undefined
  if (similar) return similar
  // `Together` and `in total` are about all rows that the claim names.
  if (own.size === 0 && jointWords.test(`${before} ${after}`)) {
    const named = selectNamed(table, new Map(columns.map((column) => [column, column.find(claim)])))
    return named.rows.length > 1 ? named : all
  }
  if (carried.size > 0 || own.size > 0) {
    const scope = selectJoined(table, own, carried)
    return { ...narrow(scope, figure.nouns.join(' ')), isCarried: own.size === 0 }
  }
  if (figure.followsOf || isTotalOfNext || totalWords.test(figure.clause) || selectState(figure, all).isNamed)
    return all
  const named = selectNamed(table, new Map(findLast(columns, next)))
  if (named.isNamed) return { ...named, isNamedLater: true }
  // A row that only a later part of the claim names counts if it is the only one.
  const later = selectNamed(table, new Map(columns.map((column) => [column, column.find(claim)])))
  return later.rows.length === 1 ? { ...later, isNamedLater: true } : all
}

/** Selects the rows with the names around a figure and with those before, as far as they go together. */
const selectJoined = (table: ResultTable, own: RowNames, carried: RowNames): TableScope => {
  const joined = new Map([...carried, ...own])
  // A name such as that of a disk may occur in several columns.
  const isShared = (column: NameColumn) =>
    [...own].some(([other, names]) => other !== column && names.some((name) => own.get(column)?.includes(name)))
  const without = [...own.keys()].filter(isShared).map((column) => {
    const rest = new Map([...own].filter(([other]) => other !== column))
    return new Map([...carried, ...rest])
  })
  const scopes = [joined, ...without, own].map((names) => selectNamed(table, names))
  return scopes.find(({ rows }) => rows.length > 0) ?? selectNamed(table, own.size > 0 ? own : joined)
}

/** Narrows rows with the same name to those that the nouns of a figure name, as in `events had 31 flush errors`. */
const narrow = (scope: TableScope, nouns: string): TableScope => {
  if (scope.rows.length < 2 || nouns === '') return scope
  const similar = selectSimilar(scope.table, nouns)
  const rows = scope.rows.filter((row) => similar?.rows.includes(row))
  return rows.length > 0 ? { ...scope, rows } : scope
}

const selectSimilar = (table: ResultTable, text: string): TableScope | undefined => {
  for (const index of table.columns.keys()) {
    if (isNumeric(table, index)) continue
    const names = findSimilarNames(table, index, text)
    if (names.length === 0) continue
    const rows = table.rows.filter((row) => names.includes(row[index]?.text ?? ''))
    return { table, rows, isNamed: rows.length < table.rows.length, names }
  }
  return undefined
}

/** Narrows rows to those in a state that the words after a figure state, as in `12 failed flushes`. */
const selectState = (figure: Figure, scope: TableScope): TableScope => {
  const isKnown = (word: string) => scope.table.columns.some((column) => isNounOf({ nouns: [word] }, column.words))
  const words = [...figure.nouns.slice(0, -1), ...findPredicate(figure)]
    .filter((word) => !isPluralName(word))
    .flatMap(splitIntoWords)
    .filter((word) => word.length > 2 && !isKnown(word))
  const states = words
    .map((word) => createStateFilter(word, scope.table))
    .filter((filter) => scope.table.rows.some(filter))
  if (states.length === 0) return scope
  return { ...scope, rows: scope.rows.filter((row) => states.every((filter) => filter(row))), isNamed: true }
}

/** Selects the rows with a name of each column. */
const selectNamed = (table: ResultTable, names: RowNames): TableScope => {
  const rows = table.rows.filter((row) =>
    [...names].every(([{ index }, own]) => row[index] !== undefined && own.includes(toName(row[index]))),
  )
  return { table, rows, isNamed: rows.length < table.rows.length, names: [...names.values()].flat() }
}
