/** A fixed statement that detectors look at. */
export interface RowSet {
  /** Tables that a server may lack. */
  requires: readonly string[]
  /** Sent without settings of ours, which would be told as the host's. */
  bare?: true
  /** With the macros of definitions. */
  sql: string
}
