import { z } from 'zod'
import {
  consoleMethods,
  longestStatement,
  MaxBytes,
  ResultFormat,
  resultFormats,
  RunId,
  runOptions,
} from '../console.ts'
import { StatementFacts } from '../statement.ts'
import { answer } from './answer.ts'
import { bodyHostId, hostId } from './parameters.ts'

/**
 * `POST /api/v1/explorer/query`: one read-only statement of the caller. `runId` is a name of the caller's own by which the
 * run can be cancelled. `format` wins over the header `Accept`; all but `json` is sent as a file.
 */
export const ConsoleRequest = z.strictObject({
  hostId: bodyHostId.default(0),
  query: z.string().max(longestStatement, `must not be longer than ${longestStatement} characters`),
  ...runOptions,
  maxBytes: MaxBytes.optional(),
  format: z
    .enum(resultFormats, `must be one of ${resultFormats.join(', ')}`)
    .pipe(ResultFormat)
    .optional(),
})

const { runQuery, cancelQuery } = consoleMethods

/** The answer: a row has its values in the order of the columns; 64-bit integers and decimals are text. */
export const ConsoleAnswer = answer(
  // The document states that a row is an array; `RowValues` of the bus has no form in it.
  runQuery.output.pick({ columns: true }).extend({ rows: z.array(z.array(z.unknown())) }),
  StatementFacts.extend(runQuery.output.pick({ truncated: true }).shape),
)

/** `DELETE /api/v1/explorer/query/{runId}` ends a run of the same caller. */
export const CancelQuery = z.strictObject({ hostId: hostId.default(0) })
/** What its path names. */
export const CancelPath = z.object({ runId: RunId })
/** The answer. */
export const CancelAnswer = answer(cancelQuery.output, z.object({ host: z.string() }))
