import type { Recommendation, Savings } from '#proto/advice.ts'
import type { SkipIndexType } from '#proto/advising.ts'

/** Rows and granules under a condition. */
export interface Matches {
  rows: number
  matchingRows: number
  matchingGranules: number
}

/** Groups of rows, and those that a condition touches. */
export interface Groups {
  groups: number
  matchingGroups: number
  matchingRows: number
}

/** How a host can tell what a change would save. What is computed from counts is null when it would save nothing. */
export type Test =
  | { by: 'index'; column: string; type: SkipIndexType }
  | { by: 'matches'; condition: string; savings: (counted: Matches) => Savings | null }
  | { by: 'groups'; keys: string[]; condition: string | null; savings: (counted: Groups) => Savings | null }

/** A change that may save something, before anything was tried out. */
export interface Proposal extends Omit<Recommendation, 'proof' | 'savings' | 'table'> {
  /** Of proposals with one purpose the best is told. */
  purpose: string
  test: Test
}
