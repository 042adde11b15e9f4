/** A fixed statement that detectors look at. */
export interface RowSet {
  /** Tables that a server may lack. */
  requires: readonly string[]
  /** With the macros of definitions. */
  sql: string
}
