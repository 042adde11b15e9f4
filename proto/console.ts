import { z } from 'zod'
import { bytes, rpc, stream } from './contract.ts'
import { ofHost } from './host.ts'
import { RowValues, StatementFacts } from './statement.ts'
import { exportFormats } from './table-page.ts'

/** Longest statement of a caller that is run, in characters. */
export const longestStatement = 100_000
/** Most rows of one answer; `SVC_TABLE_MAX_RESULT_ROWS` lowers it where the answer is no file. */
export const mostRows = 1_000_000
/** Rows of an answer whose caller names no number. */
export const usualRows = 10_000
/** Most bytes of rows that are streamed. */
export const mostStreamedBytes = 256 * 1024 * 1024
/** Most bytes of rows in one whole answer, which is held in memory. */
export const mostWholeBytes = 4 * 1024 * 1024

/** Form of the rows: an array of values in column order for each row, or the formats of files. */
export const resultFormats = ['json', ...exportFormats] as const
/** One of `resultFormats`. */
export const ResultFormat = z.enum(resultFormats)
export type ResultFormat = z.infer<typeof ResultFormat>

/** A column of a result, its type as ClickHouse writes it. */
export const ResultColumn = z.object({ name: z.string(), type: z.string() })
export type ResultColumn = z.infer<typeof ResultColumn>

/** That there were more rows: which limit cut them off, in rows or bytes as `reason` says, and how many rows there are. */
export const Truncation = z.object({
  reason: z.enum(['rows', 'bytes']),
  limit: z.number().int(),
  returned: z.number().int(),
})
export type Truncation = z.infer<typeof Truncation>

/** The caller's own name of a run, by which it can be cancelled; a UUID does well. */
export const RunId = z.string().regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, _ and -')

/** A whole number, and a sentence that says which. */
const whole = (max: number) => {
  const sentence = `must be a whole number from 1 to ${max}`
  return z.int(sentence).min(1, sentence).max(max, sentence)
}

const value = z.union(
  [z.string().max(8_192), z.number(), z.boolean(), z.null()],
  'must be text of at most 8192 characters, a number, a boolean or null',
)

/** What may be asked of a run besides its statement; the limits can only be lowered. */
export const runOptions = {
  /** Where names without a database are looked up. */
  database: z.string().min(1, 'must not be empty').max(256, 'must not be longer than 256 characters').optional(),
  /** Values for the placeholders `{name:Type}` of the statement. */
  parameters: z
    .record(z.string().regex(/^\w{1,64}$/, 'must be a name of letters, digits and _'), value)
    .refine((given) => Object.keys(given).length <= 50, 'must have at most 50 values')
    .optional(),
  maxRows: whole(mostRows).optional(),
  /** Time on the host, in seconds; `COLUMNDB_MAX_EXECUTION_TIME` when that is less. */
  maxSeconds: whole(86_400).optional(),
  runId: RunId.optional(),
}
/** Bytes of a streamed answer. */
export const MaxBytes = whole(mostStreamedBytes)

const statement = { query: z.string().max(longestStatement) }
const common = { callers: ['gateway', 'agent', 'mcp'], feature: 'QUERIES', prefer: 'hostKey' } as const

/**
 * SQL that callers write: refused unless it only reads, and run read-only within limits of time, memory, rows and bytes.
 * They are not `safe`, since a second run would cost the host as much as the first.
 */
export const consoleMethods = {
  runQuery: rpc({
    doc: 'One read-only statement of the caller with its whole answer. A row has its values in the order of `columns`; 64-bit integers beyond what a number holds, and decimals, are text.',
    ...common,
    input: z.object({
      ...ofHost,
      ...statement,
      ...runOptions,
      maxBytes: whole(mostWholeBytes).default(mostWholeBytes),
      /** Part of the product whose own statement it is, as the log of the host tells it; people's have none. */
      purpose: z
        .string()
        .regex(/^[a-z][a-z-]{0,31}$/)
        .optional(),
    }),
    output: z.object({
      columns: z.array(ResultColumn),
      rows: z.array(RowValues),
      truncated: Truncation.nullable(),
      statement: StatementFacts,
    }),
  }),
  streamQuery: stream({
    doc: "The same as the host's own bytes, as they come. With `json` a row is an array on a line of its own in which 64-bit integers and decimals are text.",
    ...common,
    input: z.object({
      ...ofHost,
      ...statement,
      ...runOptions,
      maxBytes: MaxBytes.default(mostStreamedBytes),
      format: ResultFormat.default('json'),
    }),
    /** Only `json` tells the columns; in csv and tsv the first line has their names. */
    head: z.object({ columns: z.array(ResultColumn).nullable() }),
    frames: bytes(),
    tail: z.object({ truncated: Truncation.nullable(), statement: StatementFacts }),
  }),
  cancelQuery: rpc({
    doc: 'Ends a run of the same caller by its `runId`. `not-found` when it is not running.',
    callers: ['gateway', 'agent'],
    feature: 'QUERIES',
    prefer: 'hostKey',
    input: z.object({ ...ofHost, runId: RunId }),
    output: z.object({ cancelled: z.literal(true) }),
  }),
}
