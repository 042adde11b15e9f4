import type { ClaimContext } from './claim-context.ts'
import type { Figure } from './figures.ts'
import type { CitedResult } from './result-cells.ts'
import type { TableScope } from './row-scopes.ts'

/** A claim with its figures, and the rows of the cited results that they are about. */
export interface ClaimSources {
  context: ClaimContext
  figures: readonly Figure[]
  results: readonly CitedResult[]
  /** The rows that the claim names, for each table. */
  scopes: readonly TableScope[]
  /** The rows that each figure is about, for each table. */
  rowsOf: ReadonlyMap<Figure, readonly TableScope[]>
  /** The figures of the question and of the requests. */
  requested: readonly Figure[]
}
