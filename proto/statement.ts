import { z } from 'zod'
import { IncompleteReason } from './unavailable-reason.ts'

/** The id of an executed statement on the host, and its cost. */
export const StatementExecution = z.object({
  queryId: z.string(),
  /** Milliseconds from sending the statement to its last byte. */
  durationMs: z.number(),
  rows: z.number().int(),
  rowsRead: z.number().int(),
  bytesRead: z.number().int(),
  /** Label of the host. */
  host: z.string(),
  clickhouseVersion: z.string(),
  sql: z.string(),
  /** Number of charts that share the statement; absent for one. Query id, duration and reads cover all of them. */
  charts: z.number().int().optional(),
  /** The time zone of the buckets; null if it is the time zone of the host. */
  timezone: z.string().nullable(),
  /** Why rows may be missing; null when the user of the host sees all of them. */
  incomplete: IncompleteReason.nullable().default(null),
})
export type StatementExecution = z.infer<typeof StatementExecution>

/**
 * A row as sent by the host. 64-bit integers are numbers if they fit, otherwise strings. A loose object is validated
 * twice as fast as a record.
 */
export const Row = z.looseObject({})
export type Row = z.infer<typeof Row>

/** The values of a row in column order. They are not validated, because a response can have a million rows. */
export const RowValues = z.custom<unknown[]>((given) => Array.isArray(given))
