import { z } from 'zod'
import {
  causes,
  type EvaluationCase,
  formatDiagnosis,
  type HostName,
  hostNames,
  symptomQuestions,
  type Diagnosis,
} from '../../agent/evaluation/cases.ts'
import {
  countResponses,
  findLastQuestion,
  type ModelScript,
  type ScriptedModelResponse,
} from '../../agent/testing/model-script.ts'
import type { ChatRequest } from '../../agent/testing/strict-request.ts'

/**
 * A model that runs one tool on both hosts and derives the diagnosis from the results. It knows ClickHouse, but not the
 * cases. If a result instructs it to drop a table, it obeys, so the product itself must prevent harm.
 */
export const competentModel: ModelScript = (request) => {
  const question = findLastQuestion(request)
  const symptom = Object.entries(symptomQuestions).find(([, each]) => question.startsWith(each.question))?.[0]
  const method = methods.find((each) => each.symptom === symptom)
  if (method === undefined) return createTextResponse('I do not know this symptom.')
  const { tool, input, diagnose } = method
  const step = countResponses(request)
  if (step === 0) return { say: hostNames.map((_, hostId) => ({ call: tool, with: { ...input, hostId } })) }
  const read = request.messages.map(({ content }) => content ?? '').join('\n')
  const injected = /call query with (DROP TABLE [\w.]+)/.exec(read)?.[1]
  if (injected !== undefined && step === 1) return { say: [{ call: 'query', with: { sql: injected } }] }
  const found = diagnose(readHosts(request, hostNames.length))
  if (found === undefined) return createTextResponse('There is insufficient evidence.')
  const { row, cause, object, claim } = found
  return createTextResponse(
    `${causes[cause]}: ${claim} [${row.evidence}].\n\n${formatDiagnosis({ cause, object, host: row.host })}`,
  )
}

/** Returns a response that contains only text. */
export const createTextResponse = (text: string): ScriptedModelResponse => ({ say: [{ text }] })

const Result = z.object({
  result: z.record(z.string(), z.unknown()).optional(),
})

/** Reads the rows of all lists in a tool result. `query` returns the column names separately from the rows. */
const readRows = (content: string): Record<string, unknown>[] => {
  const json = /<data from="host">(.*?)<\/data>/s.exec(content)?.[1] ?? '{}'
  const { result = {} } = Result.parse(JSON.parse(json))
  const tabular = z
    .object({ columns: z.array(z.object({ name: z.string() })), rows: z.array(z.array(z.unknown())) })
    .safeParse(result)
  if (tabular.success) {
    const { columns, rows } = tabular.data
    return rows.map((row) => Object.fromEntries(columns.map(({ name }, index) => [name, row[index]])))
  }
  return Object.values(result).flatMap((list) => z.array(z.record(z.string(), z.unknown())).catch([]).parse(list))
}

/** Reads the results of the last step, one per host. */
const readHosts = ({ messages }: ChatRequest, count: number): Row[] =>
  messages
    .filter(({ role }) => role === 'tool')
    .slice(0, count)
    .flatMap(({ content }, index) => {
      const host: HostName = hostNames[index] ?? 'north'
      const evidence = /^Evidence: (.+)\.$/m.exec(content ?? '')?.[1] ?? ''
      return readRows(content ?? '').map((cells) => ({ host, evidence, cells }))
    })

/** A row of a tool result. */
interface Row {
  host: HostName
  /** The ids of the evidence of the result. */
  evidence: string
  cells: Readonly<Record<string, unknown>>
}

/** The conclusion from the results of all hosts. */
interface Finding {
  row: Row
  cause: Diagnosis['cause']
  object: string
  /** A sentence with figures of the row. */
  claim: string
}

/** How to diagnose a symptom: the tool that is called on each host, and the conclusion from the rows of all hosts. */
interface DiagnosisMethod {
  symptom: EvaluationCase['symptom']
  tool: string
  input: Record<string, unknown>
  diagnose(rows: readonly Row[]): Finding | undefined
}

const readText = ({ cells }: Row, name: string): string => String(cells[name] ?? '')
const readNumber = ({ cells }: Row, name: string): number => Number(cells[name] ?? 0)

/** Returns the row with the largest value; undefined if no row has the column. */
const findLargest = (rows: readonly Row[], name: string): Row | undefined =>
  rows.filter(({ cells }) => name in cells).toSorted((one, other) => readNumber(other, name) - readNumber(one, name))[0]

/** The last command that stopped or started merges of a table, from the query log. */
const mergeCommandsSql = `SELECT extract(query, 'MERGES ([\\\\w.]+)') AS object,
    argMax(extract(query, 'SYSTEM (\\\\w+)'), event_time_microseconds) AS merge_command
  FROM system.query_log WHERE type = 'QueryFinish' AND query LIKE 'SYSTEM ST% MERGES %' GROUP BY object`

const slowQueriesSql = `SELECT arrayFirst(name -> startsWith(name, 'shop.'), tables) AS object, count() AS calls,
    sum(query_duration_ms) AS duration_ms, max(read_rows) AS rows_read,
    max(ProfileEvents['JoinResultRowCount']) AS rows_joined,
    max(ProfileEvents['ExternalAggregationWritePart']) AS spilled_files, max(position(query, ' FINAL')) AS final_position
  FROM system.query_log
  WHERE type = 'QueryFinish' AND query_kind = 'Select' AND object != '' AND http_user_agent != 'watchhouse'
  GROUP BY object, normalized_query_hash ORDER BY duration_ms DESC LIMIT 5`

const minJoinFactor = 10

const diagnoseSlowQueries = (rows: readonly Row[]): Finding | undefined => {
  const row = findLargest(rows, 'duration_ms')
  if (row === undefined) return undefined
  const [object, read, joined, spilled] = [
    readText(row, 'object'),
    readNumber(row, 'rows_read'),
    readNumber(row, 'rows_joined'),
    readNumber(row, 'spilled_files'),
  ]
  const conclude = (cause: Diagnosis['cause'], claim: string): Finding => ({ row, cause, object, claim })
  if (spilled > 0) return conclude('spill-to-disk', `the query of ${object} wrote ${spilled} spilled files`)
  if (joined > minJoinFactor * read) return conclude('join-fan-out', `the query of ${object} has ${joined} rows joined`)
  const reads = `the query of ${object} has ${read} rows read`
  return conclude(readNumber(row, 'final_position') > 0 ? 'final-read' : 'full-scan', reads)
}

const partsSql = `SELECT object, new_parts, average_rows, partitions, create_table_query, merge_command FROM (
    SELECT concat(database, '.', table) AS object, countIf(event_type = 'NewPart') AS new_parts,
      round(avgIf(rows, event_type = 'NewPart')) AS average_rows,
      uniqExactIf(partition_id, event_type = 'NewPart') AS partitions
    FROM system.part_log WHERE database = 'shop' GROUP BY object
  ) AS part
  INNER JOIN (
    SELECT concat(database, '.', name) AS object, create_table_query FROM system.tables WHERE database = 'shop'
  ) AS definition USING object
  LEFT JOIN (${mergeCommandsSql}) AS command USING object
  ORDER BY new_parts DESC LIMIT 5`

const maxPartsPerPartition = 2
const minRowsPerInsert = 1_000

const diagnoseParts = (rows: readonly Row[]): Finding | undefined => {
  const row = findLargest(rows, 'new_parts')
  if (row === undefined) return undefined
  const [object, parts, average, partitions] = [
    readText(row, 'object'),
    readNumber(row, 'new_parts'),
    readNumber(row, 'average_rows'),
    readNumber(row, 'partitions'),
  ]
  const conclude = (cause: Diagnosis['cause']): Finding => ({
    row,
    cause,
    object,
    claim: `${object} got ${parts} new parts`,
  })
  if (parts <= maxPartsPerPartition * partitions) return conclude('over-partitioned')
  if (average < minRowsPerInsert) return conclude('small-inserts')
  if (readText(row, 'merge_command') === 'STOP') return conclude('merges-stopped')
  return readText(row, 'create_table_query').includes('max_bytes_to_merge') ? conclude('merge-size-limit') : undefined
}

const causesByCode: Readonly<Record<string, Diagnosis['cause']>> = {
  47: 'missing-column',
  60: 'missing-table',
  241: 'memory-limit',
  469: 'constraint-violation',
  497: 'missing-grant',
}

/** Diagnoses the most frequent failure. One error code can have several causes, which its message distinguishes. */
const diagnoseFailures = (rows: readonly Row[]): Finding | undefined => {
  const row = findLargest(rows, 'failures')
  if (row === undefined) return undefined
  const [code, exception] = [readText(row, 'code'), readText(row, 'exception')]
  const table = /(?:INTO|FROM)\s+`?(shop`?\.`?\w+)/.exec(readText(row, 'statement'))?.[1]?.replaceAll('`', '') ?? ''
  const view = /view `?(shop`?\.`?\w+)/.exec(exception)?.[1]?.replaceAll('`', '')
  const partsCause = exception.includes('single INSERT block') ? 'insert-spans-partitions' : 'parts-limit'
  const cause = code === '252' ? partsCause : (causesByCode[code] ?? 'bad-value')
  return {
    row,
    cause,
    object: view ?? table,
    claim: `${readText(row, 'error')} has ${readNumber(row, 'failures')} failures`,
  }
}

const mutationsSql = `SELECT object, command, latest_fail_reason, parts_to_do, merge_command FROM (
    SELECT concat(database, '.', table) AS object, command, latest_fail_reason, parts_to_do
    FROM system.mutations WHERE NOT is_done
  ) AS mutation
  LEFT JOIN (${mergeCommandsSql}) AS command USING object
  ORDER BY parts_to_do DESC LIMIT 5`

const diagnoseMutations = (rows: readonly Row[]): Finding | undefined => {
  const row = findLargest(rows, 'parts_to_do')
  if (row === undefined) return undefined
  const [object, reason] = [readText(row, 'object'), readText(row, 'latest_fail_reason')]
  const conclude = (cause: Diagnosis['cause']): Finding => ({
    row,
    cause,
    object,
    claim: `${object} has ${readNumber(row, 'parts_to_do')} parts to do`,
  })
  if (reason.includes('UNKNOWN_TABLE')) return conclude('missing-table')
  if (/CANNOT_INSERT_NULL|NULL value/.test(reason)) return conclude('null-value')
  if (reason !== '') return conclude('bad-value')
  return readText(row, 'merge_command') === 'STOP' ? conclude('merges-stopped') : undefined
}

const replicaCauses: readonly (readonly [RegExp, Diagnosis['cause']])[] = [
  [/Session expired/, 'keeper-session-lost'],
  [/No active replica/, 'missing-part'],
  [/NOT_ENOUGH_SPACE/, 'disk-full'],
  [/MEMORY_LIMIT_EXCEEDED/, 'memory-limit'],
]

const diagnoseReplicas = (rows: readonly Row[]): Finding | undefined => {
  const row = findLargest(rows, 'delaySeconds')
  if (row === undefined) return undefined
  const table = readText(row, 'table')
  const exceptions = rows
    .filter((other) => other.host === row.host && readText(other, 'table') === table)
    .map((other) => readText(other, 'exception'))
  const cause = replicaCauses.find(([pattern]) => exceptions.some((exception) => pattern.test(exception)))?.[1]
  if (cause === undefined) return undefined
  const claim = `the table ${table} has a delay of ${readNumber(row, 'delaySeconds')} seconds`
  return { row, cause, object: `${readText(row, 'database')}.${table}`, claim }
}

/** One method for each symptom. */
const methods: readonly DiagnosisMethod[] = [
  { symptom: 'slow-queries', tool: 'query', input: { sql: slowQueriesSql }, diagnose: diagnoseSlowQueries },
  { symptom: 'too-many-parts', tool: 'query', input: { sql: partsSql }, diagnose: diagnoseParts },
  { symptom: 'failing-queries', tool: 'get_failed_queries', input: {}, diagnose: diagnoseFailures },
  { symptom: 'stuck-mutation', tool: 'query', input: { sql: mutationsSql }, diagnose: diagnoseMutations },
  { symptom: 'rejected-inserts', tool: 'get_failed_queries', input: {}, diagnose: diagnoseFailures },
  { symptom: 'stale-replica', tool: 'get_replication_status', input: {}, diagnose: diagnoseReplicas },
]
