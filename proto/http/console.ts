import { z } from 'zod'
import {
  consoleMethods,
  maxStatementLength,
  StreamByteLimit,
  ResultFormat,
  resultFormats,
  StatementRunId,
  runOptions,
} from '../console.ts'
import { StatementExecution } from '../statement.ts'
import { createResponseSchema } from './response.ts'
import { bodyHostId, hostId } from './parameters.ts'

/**
 * `POST /api/v1/explorer/query`: one read-only statement of the caller. The caller can choose a `runId` to
 * cancel the run. `format` overrides the header `Accept`; formats other than `json` are sent as a file.
 */
export const ConsoleRequest = z.strictObject({
  hostId: bodyHostId.default(0),
  query: z.string().max(maxStatementLength, `must not be longer than ${maxStatementLength} characters`),
  ...runOptions,
  maxBytes: StreamByteLimit.optional(),
  format: z
    .enum(resultFormats, `must be one of ${resultFormats.join(', ')}`)
    .pipe(ResultFormat)
    .optional(),
})

const { runQuery, cancelQuery } = consoleMethods

/**
 * Response of `POST /api/v1/explorer/query`. Values of a row are in the order of the columns; 64-bit integers and
 * decimals are text.
 */
export const ConsoleResponse = createResponseSchema(
  // Rows are declared as arrays, because the custom schema `RowValues` has no OpenAPI equivalent.
  runQuery.output.pick({ columns: true }).extend({ rows: z.array(z.array(z.unknown())) }),
  StatementExecution.extend(runQuery.output.pick({ truncated: true }).shape),
)

/** Query parameters of `DELETE /api/v1/explorer/query/{runId}`, which cancels a run of the same caller. */
export const CancelRunQuery = z.strictObject({ hostId: hostId.default(0) })
/** Path parameters of `DELETE /api/v1/explorer/query/{runId}`. */
export const ConsoleRunPath = z.object({ runId: StatementRunId })
/** Response of `DELETE /api/v1/explorer/query/{runId}`. */
export const CancelRunResponse = createResponseSchema(cancelQuery.output, z.object({ host: z.string() }))
