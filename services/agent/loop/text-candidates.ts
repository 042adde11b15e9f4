import { findBoundColumns, isNounOf } from './bound-columns.ts'
import { maximumWords, minimumWords } from './claim-context.ts'
import type { ClaimSources } from './claim-sources.ts'
import { findColumnUnit } from './column-units.ts'
import { type CandidateValue, isWithinTolerance } from './figure-tolerance.ts'
import type { Figure, FigureReading } from './figures.ts'
import type { ResultTable } from './result-cells.ts'
import { selectRows, type TableScope } from './row-scopes.ts'
import { splitIntoWords } from './words.ts'
import { genericNouns, isConditionOfCount, listWords } from './row-counts.ts'

/** Returns the figures of texts: the summary, messages in cells and, for conditions, the request and the question. */
export const readTexts = (figure: Figure, reading: FigureReading, sources: ClaimSources): CandidateValue[] => {
  const { kind } = reading
  const rowScopes = sources.rowsOf.get(figure) ?? []
  const isBound = kind === 'plain' && findBoundColumns(figure, reading, rowScopes).size > 0
  const inCells = (isBound ? [] : rowScopes).flatMap(({ rows }) =>
    rows.flatMap((row) => row.flatMap(({ figures }) => figures)),
  )
  const requested = canBeRequested(figure, reading, sources)
    ? sources.requested.filter((found) => hasSameDirection(figure, found) !== isDenied(figure, sources))
    : []
  // A statement may write `the last 7 days` as `today() - 7`.
  const windows = requested.flatMap((found) =>
    found.readings
      .filter((each) => each.kind === 'plain' && kind === 'seconds')
      .map(({ value }) => ({ kind, scale: 1, value: value * findRequestedScale(found), tolerance: 0 })),
  )
  // A condition is the same, or another one.
  const repeated = [...requested.flatMap(({ readings }) => readings), ...windows]
    .filter(
      (found) =>
        found.kind === kind && isWithinTolerance({ ...figure, bound: 'exact' }, reading, { value: found.value }),
    )
    .map(() => ({ value: reading.value, isLimit: true }))
  // In a series, `the last hour` may be its last row.
  const isOpen = kind === 'seconds' && !sources.context.claim.includes(figure.text)
  const isWindow = isOpen && windowWords.test(figure.lead) && sources.scopes.some(({ table }) => hasMoments(table))
  const conditions = isWindow || isConditionOfCount(figure, sources) ? [figure] : []
  const stated = [...inCells, ...conditions, ...findSummaries(figure, reading, sources)]
    .flatMap(({ readings }) => readings)
    .filter((found) => found.kind === kind)
    .map(({ value, scale, tolerance }) => ({ value, tolerance: scale === 1 ? 0 : tolerance, isLimit: true }))
  return [...stated, ...repeated]
}

/** Returns the figures of the summaries that can be about the same as the figure. */
const findSummaries = (figure: Figure, reading: FigureReading, sources: ClaimSources): Figure[] => {
  if (figure.isUniversal) return []
  const rowScopes = sources.rowsOf.get(figure) ?? []
  // A summary may describe a different row than the one that the claim names.
  const bound = findBoundColumns(figure, reading, rowScopes)
  if (rowScopes.some(({ isNamed, table }) => isNamed && table.columns.some((column) => bound.has(column)))) return []
  // The only row decides about its columns.
  if (rowScopes.some(({ table }) => table.rows.length === 1 && table.columns.some((column) => bound.has(column))))
    return []
  const isAbout = (found: Figure) =>
    // A summary such as `3 rows, complete` counts rows, not what a claim counts.
    rowScopes.every((scope) => isAboutRows(found, scope)) &&
    (!isNounOf(found, genericNouns) || (isNounOf(figure, genericNouns) && listWords.test(sources.context.claim))) &&
    (figure.nouns.length === 0 ||
      isNounOf(figure, [...found.nouns.flatMap(splitIntoWords), ...splitIntoWords(found.clause)])) &&
    freeWords.test(figure.tail) === freeWords.test(found.tail) &&
    [maximumWords, minimumWords].every((words) => !words.test(figure.clause) || words.test(found.clause))
  return sources.results.flatMap(({ summary }) => summary).filter(isAbout)
}

/** Returns whether the summary names the rows that a figure is about, if the claim names any. */
const isAboutRows = ({ lead, tail }: Figure, { table, rows, isNamed }: TableScope): boolean => {
  const described = selectRows(table, `${lead} ${tail}`)
  return !isNamed || (described.isNamed && described.rows.some((row) => rows.includes(row)))
}

/** Returns the seconds of a number in a request: a column's unit in `elapsed > 300`, days in `today() - 7`. */
const findRequestedScale = ({ lead }: Figure): number => {
  if (/\btoday\(\)\s*-\s*$/i.test(lead)) return 86_400
  if (/\bnow\(\)\s*-\s*$/i.test(lead)) return 1
  const column = /(\w+)\s*[<>]=?\s*$/.exec(lead)?.[1]
  return (column === undefined ? null : findColumnUnit(column))?.scale ?? Number.NaN
}

/** Returns whether the claim denies the condition of a request that returned nothing, as in `no query runs longer than`. */
const isDenied = (figure: Figure, { scopes }: ClaimSources): boolean =>
  figure.isUniversal && figure.isCondition && scopes.some(({ table }) => isEmpty(table))

const isEmpty = ({ columns, rows }: ResultTable): boolean => columns.length > 0 && rows.length === 0

/** Returns whether a condition has the direction of that in the request: `> 5` is no `less than 5`. */
const hasSameDirection = ({ bound }: Figure, { lead }: Figure): boolean => {
  const [, operator, now] = /([<>])=?\s*(now\(\)\s*-\s*INTERVAL\s*)?$/i.exec(lead) ?? []
  if (operator === undefined || !/above|below|at/.test(bound)) return true
  // What began before a moment has lasted longer than since then.
  return (operator === '>') === (now === undefined) ? /above|at least/.test(bound) : /below|at most/.test(bound)
}

const freeWords = /\b(?:free|left|available|remaining)\b/i
const hasMoments = ({ columns }: ResultTable): boolean => columns.some(({ moments }) => moments.size > 0)

const windowWords =
  /\b(?:last|past|previous|next|within|every|interval(?: of)?|top|first|limit(?: of)?|threshold(?: of)?)\s(?:the\s)?$/i

/** Returns whether a figure may repeat the request or the question: a window, a limit, or a condition of a count. */
const canBeRequested = (figure: Figure, { kind }: FigureReading, sources: ClaimSources): boolean => {
  if (/\b(?:you|your|question|requested)\b/i.test(sources.context.claim)) return true
  if (windowWords.test(figure.lead)) return true
  // If nothing was returned, no row fulfils the condition of the request.
  if (isDenied(figure, sources)) return true
  const before = sources.figures[sources.figures.indexOf(figure) - 1]
  const isNamed = (sources.rowsOf.get(figure) ?? []).some((scope) => scope.isNamed)
  const followsCount = before?.readings[0]?.kind === 'plain' || kind === 'seconds'
  return figure.isCondition && !isNamed && before !== undefined && followsCount
}
