import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import type { QueryDetail } from '#proto/query-detail.ts'
import type { UnavailableReason } from '#proto/unavailable-reason.ts'
import { checkRequirements, findUnavailableReason } from '../clickhouse/availability.ts'
import type { DatabaseClient } from '../clickhouse/client.ts'
import { type MacroScope, expandMacros } from '../definitions/macros.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import { cpuMsExpression } from './fingerprint-statement.ts'
import { hostNumberSchema, hostBooleanSchema, readRecords } from './read-records.ts'

/** One part of a query's detail, with its tables, statement and row schema. */
interface QueryPart<S extends z.ZodType> {
  requires: readonly string[]
  /** Maximum number of rows; further rows are truncated. */
  limit: number
  sql: string
  row: S
}

const sentenceCharacters = 500
const childQueryCharacters = 2_000
const peakMemory = 'greatest(peak_memory_usage, 0) AS peakMemoryBytes'

export const threadsSection = {
  requires: ['system.query_thread_log'],
  limit: 1_000,
  sql: `SELECT
  toString(log.thread_id) AS threadId,
  thread_name AS name,
  log.thread_id = master_thread_id AS isMaster,
  query_duration_ms AS durationMs,
  ${cpuMsExpression} AS cpuMs,
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
    isMaster: hostBooleanSchema,
    durationMs: hostNumberSchema,
    cpuMs: z.number(),
    peakMemoryBytes: hostNumberSchema,
    readRows: hostNumberSchema,
    readBytes: hostNumberSchema,
    writtenRows: hostNumberSchema,
  }),
} satisfies QueryPart<z.ZodType>

export const viewsSection = {
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
    durationMs: hostNumberSchema,
    readRows: hostNumberSchema,
    readBytes: hostNumberSchema,
    writtenRows: hostNumberSchema,
    writtenBytes: hostNumberSchema,
    peakMemoryBytes: hostNumberSchema,
    exceptionCode: z.number(),
    exception: z.string(),
  }),
} satisfies QueryPart<z.ZodType>

export const processorsSection = {
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
    processors: hostNumberSchema,
    elapsedMs: z.number(),
    share: z.number().nullable(),
    inputWaitMs: z.number(),
    outputWaitMs: z.number(),
    inputRows: hostNumberSchema,
    inputBytes: hostNumberSchema,
    outputRows: hostNumberSchema,
    outputBytes: hostNumberSchema,
  }),
} satisfies QueryPart<z.ZodType>

export const childQueriesSection = {
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
    failed: hostBooleanSchema,
    endedMs: hostNumberSchema,
    durationMs: hostNumberSchema,
    kind: z.string(),
    query: z.string(),
    sentFrom: z.string(),
    memoryBytes: hostNumberSchema,
    readRows: hostNumberSchema,
    readBytes: hostNumberSchema,
    resultRows: hostNumberSchema,
    exceptionCode: z.number(),
    exception: z.string(),
  }),
} satisfies QueryPart<z.ZodType>

/** Maximum number of other hosts of the group to query, so that one page does not query the whole fleet. */
const maxRelatives = 16
/** The timeout for each other host of the group. The page waits for the slowest host. */
const relativeMs = 5_000

type Children = QueryDetail['children']
type ChildQueries = Omit<Children, 'queriedHosts' | 'unreachableHosts'>

/** Returns the child queries from the host and the other hosts of its group, because each host logs only its own. */
export const readChildQueries = async (
  parts: QueryHandlerDeps,
  host: MonitoredHost,
  queryId: string,
  scope: MacroScope,
  call: CallContext,
): Promise<Children> => {
  const relatives = relativesOf(parts, host)
  const brief = { ...call, deadline: Math.min(call.deadline, parts.clock.elapsedMs() + relativeMs) }
  const [own, ...others] = await Promise.all([
    childrenOn(parts, host, queryId, scope, call),
    ...relatives.map((relative) => childrenOn(parts, relative, queryId, scope, brief).catch(() => null)),
  ])
  const isUnreachable = (index: number): boolean => !others[index] || others[index].unavailable !== null
  const answered = [own, ...others].flatMap((part) => part ?? [])
  const found = distinct(answered.flatMap(({ rows }) => rows)).toSorted((a, b) => b.durationMs - a.durationMs)
  return {
    rows: found.slice(0, childQueriesSection.limit),
    truncated: found.length > childQueriesSection.limit || answered.some(({ truncated }) => truncated),
    unavailable: own.unavailable,
    queriedHosts: [host, ...relatives].map(({ name }) => name),
    unreachableHosts: relatives.filter((_, index) => isUnreachable(index)).map(({ name }) => name),
  }
}

/** Returns the other hosts of the group. Hosts known to be down are skipped, because they would only time out. */
const relativesOf = (parts: QueryHandlerDeps, host: MonitoredHost): MonitoredHost[] => {
  const down = new Set(parts.probe.states().flatMap(({ key, status }) => (status === 'down' ? [key] : [])))
  return parts.hosts
    .list()
    .filter(({ key, group }) => key !== host.key && group === host.group && !down.has(key))
    .slice(0, maxRelatives)
}

const childrenOn = async (
  { client }: QueryHandlerDeps,
  host: MonitoredHost,
  queryId: string,
  scope: MacroScope,
  call: CallContext,
): Promise<ChildQueries> => {
  const { logs } = await client.capabilities(host, call)
  const place = { client, host, queryId, scope: { ...scope, logs }, call }
  const { rows, ...rest } = await readDetailSection(place, childQueriesSection)
  return { ...rest, rows: rows.map((row) => ({ ...row, host: host.name })) }
}

/** Removes duplicate queries, because two entries of the host list may be the same server. */
const distinct = (rows: Children['rows']): Children['rows'] => [
  ...new Map(rows.toReversed().map((row) => [`${row.queryId} ${row.endedMs}`, row])).values(),
]

interface PartStatement<S extends z.ZodType> {
  requires: readonly string[]
  limit: number
  sql: string
  row: S
}

interface PartContext {
  client: DatabaseClient
  host: MonitoredHost
  queryId: string
  scope: MacroScope
  call: CallContext
}

/** Returns the rows of one part. A missing or inaccessible log makes only this part unavailable. */
export const readDetailSection = async <S extends z.ZodType>(
  { client, host, queryId, scope, call }: PartContext,
  part: PartStatement<S>,
): Promise<{ rows: z.output<S>[]; truncated: boolean; unavailable: UnavailableReason | null }> => {
  const missing = await checkRequirements(client, host, part, call)
  if (missing) return { rows: [], truncated: false, unavailable: missing }
  const sql = expandMacros(`${part.sql}\nLIMIT ${part.limit + 1}`, scope)
  const parameters = { query_id: queryId }
  const statement = { what: 'query-detail', sql, parameters }
  try {
    const answer = await client.run(host, statement, call)
    const rows = readRecords(host, part.row, answer)
    return { rows: rows.slice(0, part.limit), truncated: rows.length > part.limit, unavailable: null }
  } catch (error) {
    const unavailable = findUnavailableReason(client, host, part, error)
    if (unavailable) return { rows: [], truncated: false, unavailable }
    throw error
  }
}
