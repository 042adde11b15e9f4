import { z } from 'zod'
import { figure, flag } from './records.ts'
import { cpuMs } from './fingerprint-statement.ts'

/** One part of a query's detail: where it comes from, how it is asked for and what its rows are. */
interface QueryPart<S extends z.ZodType> {
  requires: readonly string[]
  /** More rows are cut off. */
  limit: number
  sql: string
  row: S
}

const sentenceCharacters = 500
const childQueryCharacters = 2_000
const peakMemory = 'greatest(peak_memory_usage, 0) AS peakMemoryBytes'

export const threads = {
  requires: ['system.query_thread_log'],
  limit: 1_000,
  sql: `SELECT
  toString(log.thread_id) AS threadId,
  thread_name AS name,
  log.thread_id = master_thread_id AS isMaster,
  query_duration_ms AS durationMs,
  ${cpuMs} AS cpuMs,
  ${peakMemory},
  read_rows AS readRows,
  read_bytes AS readBytes,
  written_rows AS writtenRows
FROM $log(query_thread_log) AS log
WHERE $window AND query_id = {query_id:String}
ORDER BY isMaster DESC, cpuMs DESC, threadId`,
  row: z.object({
    threadId: z.string(),
    name: z.string(),
    isMaster: flag,
    durationMs: figure,
    cpuMs: z.number(),
    peakMemoryBytes: figure,
    readRows: figure,
    readBytes: figure,
    writtenRows: figure,
  }),
} satisfies QueryPart<z.ZodType>

export const views = {
  requires: ['system.query_views_log'],
  limit: 500,
  sql: `SELECT
  view_name AS view,
  view_target AS target,
  toString(log.status) AS status,
  view_duration_ms AS durationMs,
  read_rows AS readRows,
  read_bytes AS readBytes,
  written_rows AS writtenRows,
  written_bytes AS writtenBytes,
  ${peakMemory},
  exception_code AS exceptionCode,
  substringUTF8(log.exception, 1, ${sentenceCharacters}) AS exception
FROM $log(query_views_log) AS log
WHERE $window AND initial_query_id = {query_id:String}
ORDER BY durationMs DESC, view`,
  row: z.object({
    view: z.string(),
    target: z.string(),
    status: z.string(),
    durationMs: figure,
    readRows: figure,
    readBytes: figure,
    writtenRows: figure,
    writtenBytes: figure,
    peakMemoryBytes: figure,
    exceptionCode: z.number(),
    exception: z.string(),
  }),
} satisfies QueryPart<z.ZodType>

export const processors = {
  requires: ['system.processors_profile_log'],
  limit: 500,
  sql: `SELECT
  toString(log.name) AS name,
  count() AS processors,
  sum(elapsed_us) / 1000 AS elapsedMs,
  elapsedMs / nullIf(sum(elapsedMs) OVER (), 0) AS share,
  sum(input_wait_elapsed_us) / 1000 AS inputWaitMs,
  sum(output_wait_elapsed_us) / 1000 AS outputWaitMs,
  sum(input_rows) AS inputRows,
  sum(input_bytes) AS inputBytes,
  sum(output_rows) AS outputRows,
  sum(output_bytes) AS outputBytes
FROM $log(processors_profile_log) AS log
WHERE $window AND query_id = {query_id:String}
GROUP BY log.name
ORDER BY elapsedMs DESC, name`,
  row: z.object({
    name: z.string(),
    processors: figure,
    elapsedMs: z.number(),
    share: z.number().nullable(),
    inputWaitMs: z.number(),
    outputWaitMs: z.number(),
    inputRows: figure,
    inputBytes: figure,
    outputRows: figure,
    outputBytes: figure,
  }),
} satisfies QueryPart<z.ZodType>

export const children = {
  requires: ['system.query_log'],
  limit: 500,
  sql: `SELECT
  query_id AS queryId,
  log.type != 'QueryFinish' AS failed,
  $ms(event_time_microseconds) AS endedMs,
  query_duration_ms AS durationMs,
  toString(query_kind) AS kind,
  substringUTF8(log.query, 1, ${childQueryCharacters}) AS query,
  replaceOne(toString(log.initial_address), '::ffff:', '') AS sentFrom,
  memory_usage AS memoryBytes,
  read_rows AS readRows,
  read_bytes AS readBytes,
  result_rows AS resultRows,
  exception_code AS exceptionCode,
  substringUTF8(log.exception, 1, ${sentenceCharacters}) AS exception
FROM $log(query_log) AS log
WHERE $window AND initial_query_id = {query_id:String} AND query_id != {query_id:String} AND log.type != 'QueryStart'
ORDER BY durationMs DESC, queryId`,
  row: z.object({
    queryId: z.string(),
    failed: flag,
    endedMs: figure,
    durationMs: figure,
    kind: z.string(),
    query: z.string(),
    sentFrom: z.string(),
    memoryBytes: figure,
    readRows: figure,
    readBytes: figure,
    resultRows: figure,
    exceptionCode: z.number(),
    exception: z.string(),
  }),
} satisfies QueryPart<z.ZodType>
