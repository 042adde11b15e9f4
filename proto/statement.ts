import { z } from 'zod'

/** Facts about a statement that ran: its id on the host, and what it cost there. */
export const StatementFacts = z.object({
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
  /** Charts of a batch that the host was asked for at once; id, duration, rows and bytes read are those of all of them. */
  charts: z.number().int().optional(),
  /** The zone in which times were bucketed; null is the host's own. */
  timezone: z.string().nullable(),
})
export type StatementFacts = z.infer<typeof StatementFacts>

/** One row as the host sent it; 64-bit integers are numbers when they fit, else strings. Checks in half the time of a record. */
export const Row = z.looseObject({})
export type Row = z.infer<typeof Row>

/** The values of one row in the order of its columns. They are not visited, as an answer may have a million. */
export const RowValues = z.custom<unknown[]>((given) => Array.isArray(given))
