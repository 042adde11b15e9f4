import { isOccurrence } from './bound-columns.ts'
import { readCells } from './cell-candidates.ts'
import { createClaimContext } from './claim-context.ts'
import type { ClaimSources } from './claim-sources.ts'
import { computeColumns } from './column-computations.ts'
import { isContradicted } from './contradictions.ts'
import { type CandidateValue, isWithinTolerance } from './figure-tolerance.ts'
import { extractAllFigures, extractFigures, type Figure, type FigureReading } from './figures.ts'
import type { CitedResult } from './result-cells.ts'
import { countRows, isCountOfRows, quantifiesResult } from './row-counts.ts'
import { selectRows, selectRowsOfFigures, type TableScope } from './row-scopes.ts'
import { computeFromFigures, type TracedFigure } from './stated-computations.ts'
import { readTexts } from './text-candidates.ts'
import { findUnknownIdentifiers } from './unknown-identifiers.ts'

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
  const tables = results.flatMap((result) => result.tables)
  const scopes = tables.map((table) => selectRows(table, claim))
  const names = scopes.flatMap((scope) => scope.names.flatMap(toNumericName))
  const extracted = extractAllFigures(claim, names).slice(0, maxFigures)
  const requested = extractFigures([question, ...results.map(({ request }) => request)].join('\n'))
  const create = (figures: readonly Figure[]): ClaimSources => {
    const byTable = tables.map((table) => selectRowsOfFigures(table, claim, figures))
    const rowsOf = new Map(figures.map((figure) => [figure, byTable.flatMap((each) => each.get(figure) ?? [])]))
    return { context: createClaimContext(claim, figures), figures, results, scopes, rowsOf, requested }
  }
  const all = create(extracted)
  const figures = extracted.filter((figure) => !figure.isCommonWord || quantifiesResult(figure, all))
  const sources = figures.length === extracted.length ? all : create(figures)
  const traced = traceFigures(sources)
  const isProven = (figure: Figure) => traced.has(figure) && !isContradicted(figure, sources, traced)
  const untraced = figures.filter((figure) => !isProven(figure)).map(({ text }) => text)
  return [...new Set([...untraced, ...findUnknownIdentifiers(all, question)])]
}

const traceFigures = (sources: ClaimSources): ReadonlyMap<Figure, TracedFigure> => {
  const { figures, rowsOf } = sources
  const { claim } = sources.context
  const traced = new Map<Figure, TracedFigure>()
  for (const figure of figures) {
    const found = traceDirectly(figure, sources)
    if (found) traced.set(figure, found)
  }
  for (let round = 0; round < maxRounds; round += 1) {
    for (const figure of figures) {
      if (traced.has(figure)) continue
      const same = figures.find(
        (other) =>
          other.text === figure.text &&
          other.followsOf === figure.followsOf &&
          other.bound === figure.bound &&
          other.isDifference === figure.isDifference &&
          other.nouns[0] === figure.nouns[0] &&
          traced.has(other) &&
          haveSameRows(rowsOf.get(figure), rowsOf.get(other)),
      )
      const found = (same && traced.get(same)) ?? computeFromFigures(figure, { claim, figures, traced })
      if (found) traced.set(figure, found)
    }
  }
  return traced
}

const haveSameRows = (scopes: readonly TableScope[] = [], others: readonly TableScope[] = []): boolean =>
  scopes.every(({ rows }, index) => {
    const other = others[index]?.rows ?? []
    return rows.length === other.length && rows.every((row, place) => row === other[place])
  })

type CandidateReader = (figure: Figure, reading: FigureReading, sources: ClaimSources) => CandidateValue[]

const traceDirectly = (figure: Figure, sources: ClaimSources): TracedFigure | undefined => {
  const rowScopes = sources.rowsOf.get(figure) ?? []
  const computeOwn: CandidateReader = (each, reading) =>
    rowScopes.flatMap((own, index) => {
      const scope = sources.scopes[index] ?? own
      return computeColumns({ figure: each, reading, scope, own }, sources.context)
    })
  // A count of rows in a state needs no other source.
  const readers = isCountOfRows(figure, sources) ? [countRows] : [readCells, countRows, computeOwn, readTexts]
  for (const reading of figure.readings) {
    for (const read of readers) {
      const found = read(figure, reading, sources).find((candidate) => isWithinTolerance(figure, reading, candidate))
      if (found) return { kind: isOccurrence(figure) ? 'plain' : reading.kind, value: found.value }
    }
  }
  return undefined
}

/** Returns the numbers that are names in the claim: months such as 202611, hashes, and versions such as 25.8. */
const toNumericName = (name: string): string[] => {
  if (/^\d{5,}$/.test(name)) return [name]
  const version = /^v?(\d+\.\d+)\.\d/.exec(name)?.[1]
  return version === undefined ? [] : [version]
}
