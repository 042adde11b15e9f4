import type { Row } from '#proto/query.ts'
import { readNumber } from '#lib/chart/series.ts'

/** Reclaimable space with one cause, over all tables. */
export interface Freeable {
  what: string
  how: string
  bytes: number
  /** Tables with their database, largest first. */
  tables: { database: string; table: string; bytes: number }[]
}

/** Groups the rows by cause, largest first. */
export const freeableByReason = (rows: readonly Row[]): Freeable[] => {
  const byReason = Map.groupBy(rows, (row) => String(row['what']))
  return [...byReason]
    .map(([what, ofReason]) => {
      const tables = ofReason
        .map((row) => ({
          database: String(row['database']),
          table: String(row['table']),
          bytes: readNumber(row['freeable']) ?? 0,
        }))
        .toSorted((one, other) => other.bytes - one.bytes)
      const bytes = tables.reduce((sum, each) => sum + each.bytes, 0)
      return { what, how: String(ofReason[0]?.['how'] ?? ''), bytes, tables }
    })
    .toSorted((one, other) => other.bytes - one.bytes)
}
