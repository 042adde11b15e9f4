import { listPlaceholders } from '#proto/dashboard-sql.ts'
import type { TimeRange } from '#lib/state/range.ts'
import { view } from '#lib/state/view.svelte.ts'
import { toTimeValues } from './variables.ts'

/** Returns the values of `{from}`, `{to}` and `{interval}`. A relative range ends now, by the clock of the host. */
export const readTimeValues = (range: TimeRange) => toTimeValues(range, view.hostTime(Date.now()))

/** Returns the length of the buckets of a statement in milliseconds; undefined if it does not use `{interval}`. */
export const readBucketMs = (sql: string, range: TimeRange): number | undefined =>
  listPlaceholders(sql).includes('interval') ? Number(readTimeValues(range).interval) * 1_000 : undefined
