import type { DeleteResult } from 'kysely'

/** So many go at once: a statement that takes long is ended by the server, and keeps others waiting until then. */
const rowsAtOnce = 2_000

/** Removes rows portion by portion; says how many. */
export const removeOld = async (removePortion: (limit: number) => Promise<DeleteResult>): Promise<number> => {
  let removed = 0
  for (;;) {
    const count = Number((await removePortion(rowsAtOnce)).numDeletedRows)
    removed += count
    if (count < rowsAtOnce) return removed
  }
}
