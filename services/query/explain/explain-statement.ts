import type { ExplainMode, ExplainSettings } from '#proto/explain.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { compareVersions } from '../clickhouse/version.ts'
import { Rejection } from '../read-only/rejection.ts'
import type { Allowed } from '../read-only/read-only.ts'
import { callersStatement } from '../read-only/callers-statement.ts'
import type { Token } from '../read-only/lexer.ts'

interface Kind {
  words: string
  /** What `EXPLAIN` takes for this kind, on the newest servers. */
  settings: readonly string[]
  /** The first version that knows it, of those that came later than what is supported. */
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

/** Planning may execute subqueries, and analysis the whole, so both are bounded like a query. */
const limits = {
  max_memory_usage: 1_073_741_824,
  max_result_rows: 100_000,
  max_result_bytes: 16_777_216,
  result_overflow_mode: 'throw',
}
const maxSeconds = 15

/** The statement as it will be explained: checked, and without a FORMAT clause, which would be the explanation's. */
export const explainable = (query: string, allowed?: Allowed): string => callersStatement(query, refuseExplain, allowed)

const refuseExplain = ([first]: readonly Token[]): void => {
  if (first?.word !== 'EXPLAIN') return
  throw new Rejection('first-word', first.position, 'leave out EXPLAIN; the mode says what is explained')
}

/** Throws for a mode that a server does not know yet. */
export const requireKnown = (mode: ExplainMode, host: string, version: string): void => {
  const { words, since } = kinds[mode]
  if (since === undefined || compareVersions(version, since) >= 0) return
  throw new ServiceError(
    'invalid',
    `host ${host} runs ${version}, which does not know EXPLAIN ${words}; ${since} and later do`,
    { details: { parameter: 'mode', host } },
  )
}

/** What is sent; a plan is asked for as JSON unless the caller wants a form that only text has. */
export const explainStatement = (
  query: string,
  mode: ExplainMode,
  settings: ExplainSettings,
  database: string | undefined,
): Statement => {
  const { words, settings: known } = kinds[mode]
  for (const name of Object.keys(settings)) {
    if (!known.includes(name)) {
      const there = known.length > 0 ? `it takes ${known.join(', ')}` : 'it takes none'
      throw new ServiceError('invalid', `planSettings.${name} is no setting of the mode ${mode}; ${there}`, {
        details: { parameter: `planSettings.${name}` },
      })
    }
  }
  const asked = mode === 'plan' && !settings.pretty && !settings.compact ? { json: 1, ...settings } : settings
  const written = Object.entries(asked).map(([name, value]) => `${name} = ${Number(value)}`)
  const sql = `EXPLAIN ${[words, written.join(', ')].join(' ').trimEnd()}\n${query}`
  return { what: 'explain', sql, limits, maxSeconds, ...(database !== undefined && { database }) }
}
