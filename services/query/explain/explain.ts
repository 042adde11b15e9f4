import type { ServiceHandlers } from '#proto/contract.ts'
import { type ErrorCode, ServiceError } from '#proto/errors.ts'
import type { ExplainMode, ExplainSettings } from '#proto/explain.ts'
import type { query } from '#proto/query.ts'
import { compareVersions } from '../clickhouse/capabilities.ts'
import { findClickhouseErrorCode, isClassifiedErrorCode } from '../clickhouse/failure.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { readPermissions } from '../config.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import { checkCallerStatement } from '../read-only/caller-statement.ts'
import type { Token } from '../read-only/lexer.ts'
import type { StatementPermissions } from '../read-only/read-only.ts'
import { Rejection } from '../read-only/rejection.ts'
import { toExplanation } from './explanation.ts'
import { extractSettings, selectPlanSettings, type StatementSetting } from './statement-settings.ts'

/** Returns the handler that explains a statement of a caller on a host. */
export const createExplainHandler =
  (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['explain'] =>
  async ({ hostKey, query, mode, planSettings, database }, call) => {
    const host = parts.hosts.get(hostKey)
    const { statement, settings } = toExplainableStatement(query, readPermissions(parts.env))
    requireKnown(mode, host.name, (await parts.client.capabilities(host, call)).version)
    const { applied, ignored } = selectPlanSettings(settings)
    const explaining = buildExplainStatement(statement, mode, planSettings, database, applied)
    try {
      const answer = await parts.client.run(host, explaining, call)
      const explanation = toExplanation(host, statement, mode, planSettings, answer)
      return settings.length > 0 ? { ...explanation, statementSettings: { applied, ignored } } : explanation
    } catch (error) {
      throw toCallerError(error, explaining.sql, statement)
    }
  }

/** Matches `failed at position 36 (end of query) (line 2, col 14): …`. Numbers start at 1; the position is in bytes. */
const placePattern =
  /failed at position (?<position>\d+)(?<token>.*?)(?: \(line (?<line>\d+), col (?<column>\d+)\))?: /s

/**
 * Returns the error of a caller's statement, with positions in the text that the caller sent. Errors with unknown
 * exception codes become `invalid`, because the statement has probably caused them.
 */
export const toCallerError = (error: unknown, sent: string, query: string): unknown => {
  const placed = relocateError(error, sent, query)
  if (!(placed instanceof ServiceError)) return placed
  const code = callersCode(placed)
  if (code === placed.code) return placed
  return new ServiceError(code, placed.message, { details: { ...placed.details, parameter: 'query' } })
}

const queryCancelled = 394
const memoryLimitExceeded = 241
/** Matches the memory limit of the query itself, in messages of newer and older servers. */
const ofThisQuery = /query memory limit exceeded|memory limit \(for query\) exceeded/i

const callersCode = (error: ServiceError): ErrorCode => {
  const said = findClickhouseErrorCode(error)
  if (said === queryCancelled) return 'gone'
  if (said === memoryLimitExceeded && ofThisQuery.test(error.message)) return 'too-large'
  return said !== undefined && !isClassifiedErrorCode(said) ? 'invalid' : error.code
}

/** Converts the position of a syntax error to a position in the caller's statement, which ends the sent text. */
const relocateError = (error: unknown, sent: string, query: string): unknown => {
  if (!(error instanceof ServiceError)) return error
  const { position, token = '', line, column } = placePattern.exec(error.message)?.groups ?? {}
  const before = sent.slice(0, sent.length - query.length)
  const bytes = Number(position) - before.length
  if (position === undefined || bytes <= 0) return error
  const where = line === undefined ? '' : ` (line ${Number(line) - before.split('\n').length + 1}, col ${column})`
  const message = error.message.replace(placePattern, () => `failed at position ${bytes}${token}${where}: `)
  const offset = Buffer.from(query)
    .subarray(0, bytes - 1)
    .toString('utf8').length
  return new ServiceError(error.code, message, { details: { ...error.details, parameter: 'query', position: offset } })
}

interface Kind {
  words: string
  /** The settings of this kind of `EXPLAIN` on the newest servers. */
  settings: readonly string[]
  /** The first version with this kind; absent when all supported versions have it. */
  since?: string
}

const kinds: Readonly<Record<ExplainMode, Kind>> = {
  plan: {
    words: 'PLAN',
    settings: [
      'optimize',
      'header',
      'description',
      'indexes',
      'projections',
      'actions',
      'sorting',
      'keep_logical_steps',
      'json',
      'distributed',
      'compact',
      'pretty',
      'input_headers',
      'column_structure',
    ],
  },
  pipeline: { words: 'PIPELINE', settings: ['header', 'graph', 'compact', 'distributed'] },
  ast: { words: 'AST', settings: ['graph', 'optimize'] },
  syntax: { words: 'SYNTAX', settings: ['oneline', 'run_query_tree_passes', 'query_tree_passes'] },
  'query-tree': { words: 'QUERY TREE', settings: ['run_passes', 'dump_passes', 'passes', 'dump_tree', 'dump_ast'] },
  estimate: { words: 'ESTIMATE', settings: [] },
  analyze: {
    words: 'ANALYZE',
    since: '26.7',
    settings: [
      'header',
      'description',
      'indexes',
      'projections',
      'actions',
      'sorting',
      'compact',
      'pretty',
      'input_headers',
      'column_structure',
      'processors',
    ],
  },
}

/** Limits as for a query, because planning may execute subqueries and `ANALYZE` executes the whole query. */
const limits = {
  max_memory_usage: 1_073_741_824,
  max_result_rows: 100_000,
  max_result_bytes: 16_777_216,
  result_overflow_mode: 'throw',
}
const maxSeconds = 15

/**
 * Validates a caller's statement. Removes its FORMAT clause, which would apply to the explanation, and its SETTINGS
 * clauses, whose settings are sent with the request if they change the plan.
 */
export const toExplainableStatement = (
  query: string,
  allowed?: StatementPermissions,
): { statement: string; settings: StatementSetting[] } => {
  const { query: rest, settings } = extractSettings(query, allowed)
  return { statement: checkCallerStatement(rest, refuseExplain, allowed), settings }
}

const refuseExplain = ([first]: readonly Token[]): void => {
  if (first?.word !== 'EXPLAIN') return
  throw new Rejection('first-word', first.position, 'remove EXPLAIN; the parameter "mode" selects its kind')
}

/** Throws `invalid` for a mode that the server does not support. */
const requireKnown = (mode: ExplainMode, host: string, version: string): void => {
  const { words, since } = kinds[mode]
  if (since === undefined || compareVersions(version, since) >= 0) return
  throw new ServiceError(
    'invalid',
    `host ${host} runs ClickHouse ${version}, which does not support EXPLAIN ${words}; it requires ${since} or later`,
    { details: { parameter: 'mode', host } },
  )
}

/**
 * Returns the EXPLAIN statement. A plan uses JSON unless the caller requests a text-only option. `planning` contains
 * settings of the server, which do not override the limits.
 */
export const buildExplainStatement = (
  query: string,
  mode: ExplainMode,
  settings: ExplainSettings,
  database: string | undefined,
  planning: Readonly<Record<string, string>> = {},
): Statement => {
  const { words, settings: known } = kinds[mode]
  for (const name of Object.keys(settings)) {
    if (!known.includes(name)) {
      const there = known.length > 0 ? `allowed: ${known.join(', ')}` : 'no settings are allowed'
      throw new ServiceError('invalid', `planSettings.${name} is not a setting of mode "${mode}"; ${there}`, {
        details: { parameter: `planSettings.${name}` },
      })
    }
  }
  const options = mode === 'plan' && !settings.pretty && !settings.compact ? { json: 1, ...settings } : settings
  const written = Object.entries(options).map(([name, value]) => `${name} = ${Number(value)}`)
  const sql = `EXPLAIN ${[words, written.join(', ')].join(' ').trimEnd()}\n${query}`
  return {
    what: 'explain',
    sql,
    limits: { ...planning, ...limits },
    maxSeconds,
    ...(database !== undefined && { database }),
  }
}
