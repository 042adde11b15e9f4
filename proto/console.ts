import { z } from 'zod'
import { declareByteFrames, rpc, stream } from './contract.ts'
import { hostInput } from './host.ts'
import { RowValues, StatementExecution } from './statement.ts'
import { exportFormats } from './table-page.ts'

/** Maximum length of a statement in characters. */
export const maxStatementLength = 100_000
/** Maximum rows of a response; `SVC_TABLE_MAX_RESULT_ROWS` lowers it unless the response is a file. */
export const maxResultRows = 1_000_000
/** Maximum rows of a response unless the request sets `maxRows`. */
export const defaultResultRows = 10_000
/** Maximum bytes of streamed rows. */
export const maxStreamedBytes = 256 * 1024 * 1024
/** Maximum bytes of rows in a buffered response. */
export const maxBufferedBytes = 4 * 1024 * 1024

/** Format of the rows: an array of values in column order for each row, or a file format. */
export const resultFormats = ['json', ...exportFormats] as const
/** The format in which a statement returns its rows. */
export const ResultFormat = z.enum(resultFormats)
export type ResultFormat = z.infer<typeof ResultFormat>

/** A column of a result with its ClickHouse type. */
export const ResultColumn = z.object({ name: z.string(), type: z.string() })
export type ResultColumn = z.infer<typeof ResultColumn>

/** Why a result is truncated. `limit` is in rows or bytes according to `reason`; `returned` is the number of rows. */
export const Truncation = z.object({
  reason: z.enum(['rows', 'bytes']),
  limit: z.number().int(),
  returned: z.number().int(),
})
export type Truncation = z.infer<typeof Truncation>

/** Id of a run, such as a UUID. The caller chooses it, so that it can cancel the run. */
export const StatementRunId = z.string().regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, _ and -')

/** Returns the schema of a whole number from 1 to `max`. Its error message states this range. */
const createWholeNumberSchema = (max: number) => {
  const sentence = `must be a whole number from 1 to ${max}`
  return z.int(sentence).min(1, sentence).max(max, sentence)
}

const value = z.union(
  [
    z.string().max(8_192),
    z.number(),
    z.boolean(),
    z.null(),
    z.array(z.string().max(8_192)).max(1_000, 'must have at most 1000 items'),
  ],
  'must be text of at most 8192 characters, a number, a boolean, null or a list of texts',
)

/** Options for running a statement. A caller can lower limits, but not raise them. */
export const runOptions = {
  /** The default database of the statement. */
  database: z.string().min(1, 'must not be empty').max(256, 'must not be longer than 256 characters').optional(),
  /** Values for the placeholders `{name:Type}` of the statement. */
  parameters: z
    .record(z.string().regex(/^\w{1,64}$/, 'must be a name of letters, digits and _'), value)
    .refine((given) => Object.keys(given).length <= 50, 'must have at most 50 values')
    .optional(),
  maxRows: createWholeNumberSchema(maxResultRows).optional(),
  /** Execution time limit in seconds, at most `COLUMNDB_MAX_EXECUTION_TIME`. */
  maxSeconds: createWholeNumberSchema(86_400).optional(),
  runId: StatementRunId.optional(),
}
/** Byte limit of one streamed response; at most `maxStreamedBytes`. */
export const StreamByteLimit = createWholeNumberSchema(maxStreamedBytes)

const statement = { query: z.string().max(maxStatementLength) }
const common = { callers: ['gateway', 'agent', 'mcp'], feature: 'QUERIES', prefer: 'hostKey' } as const

/** How far a running statement is, as the host reports it. */
export const RunProgress = z.object({
  elapsedSeconds: z.number(),
  rowsRead: z.number(),
  bytesRead: z.number(),
  /** The estimated number of rows to read; null while the host has no estimate. */
  totalRows: z.number().nullable(),
})
export type RunProgress = z.infer<typeof RunProgress>

/**
 * Methods that run SQL of callers. They reject statements that do more than read, and run all others with `readonly`
 * and limits on time, memory, rows and bytes. The methods are not `safe`, because a second run would cost the host as
 * much as the first.
 */
export const consoleMethods = {
  runQuery: rpc({
    doc: 'Runs one read-only statement and returns its whole result. The values of a row are in the order of `columns`; decimals, and 64-bit integers beyond the range of a number, are text.',
    ...common,
    input: z.object({
      ...hostInput,
      ...statement,
      ...runOptions,
      maxBytes: createWholeNumberSchema(maxBufferedBytes).default(maxBufferedBytes),
      /** The purpose of the statement, for the query log of the host; absent for statements of users. */
      purpose: z
        .string()
        .regex(/^[a-z][a-z-]{0,31}$/)
        .optional(),
    }),
    output: z.object({
      columns: z.array(ResultColumn),
      rows: z.array(RowValues),
      truncated: Truncation.nullable(),
      statement: StatementExecution,
    }),
  }),
  streamQuery: stream({
    doc: 'Runs one read-only statement and streams the result as sent by the host. With `json` each row is an array on its own line, in which 64-bit integers and decimals are text.',
    ...common,
    input: z.object({
      ...hostInput,
      ...statement,
      ...runOptions,
      maxBytes: StreamByteLimit.default(maxStreamedBytes),
      format: ResultFormat.default('json'),
    }),
    /** Only `json` returns the columns; in csv and tsv they are the first line. */
    head: z.object({ columns: z.array(ResultColumn).nullable() }),
    frames: declareByteFrames(),
    tail: z.object({ truncated: Truncation.nullable(), statement: StatementExecution }),
  }),
  runProgress: rpc({
    doc: 'Returns how far a run of the same caller is, by its `runId`; null if it is not running in this process.',
    callers: ['mcp'],
    feature: 'QUERIES',
    safe: true,
    prefer: 'hostKey',
    input: z.object({ ...hostInput, runId: StatementRunId }),
    output: RunProgress.nullable(),
  }),
  cancelQuery: rpc({
    doc: 'Cancels a run of the same caller by its `runId`. `not-found` if it is not running.',
    callers: ['gateway', 'agent'],
    feature: 'QUERIES',
    prefer: 'hostKey',
    input: z.object({ ...hostInput, runId: StatementRunId }),
    output: z.object({ cancelled: z.literal(true) }),
  }),
}
