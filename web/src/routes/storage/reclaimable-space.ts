import type { Row } from '#proto/query.ts'
import { readNumber } from '#lib/chart/series.ts'

/** Reclaimable disk space of all tables, for one cause. */
export interface ReclaimableSpace {
  what: string
  how: string
  bytes: number
  /** Affected tables, those with the most reclaimable space first. */
  tables: { database: string; table: string; bytes: number }[]
}

/** Groups the rows of the table page by cause. The cause with the most space comes first. */
export const groupReclaimableSpace = (rows: readonly Row[]): ReclaimableSpace[] => {
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
