import type { AuditRecord } from '#proto/audit.ts'

interface Page {
  records: AuditRecord[]
  /** Older records are those before this instant; null when there are none. */
  next: number | null
}

/**
 * A page of records, the newest first, of which one more than a page holds was asked for. It ends between two instants, because the next
 * one begins before an instant: what began at the same millisecond stands on one page, unless it fills more than one.
 */
export const pageOf = (found: readonly AuditRecord[], limit: number): Page => {
  const left = found[limit]
  if (left === undefined) return { records: [...found], next: null }
  const full = found.slice(0, limit)
  const whole = full.filter(({ atMs }) => atMs > left.atMs)
  const records = whole.length > 0 ? whole : full
  return { records, next: records.at(-1)?.atMs ?? null }
}
