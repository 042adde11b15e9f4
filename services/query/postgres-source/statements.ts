import { z } from 'zod'
import {
  PostgresStatement,
  type postgresStatementOrders,
  type StatementsUnavailableReason,
} from '#proto/postgres-statistics.ts'
import { buildEpochMsSql, findMissingPrivilege, removeLiterals } from './sessions.ts'
import { type RunQuery, ownStatementPrefix, type PostgresSource } from './source.ts'

/** State of `pg_stat_statements`. `schema` is quoted; it and `version` are null if the extension is not installed. */
const Extension = z.object({
  database: z.string(),
  isLoaded: z.boolean(),
  schema: z.string().nullable(),
  version: z.string().nullable(),
})
type Extension = z.infer<typeof Extension>

/** Reads `Extension`. The setting `pg_stat_statements.max` exists once the server has loaded the library. */
const extensionSql = `SELECT current_database() AS database,
  current_setting('pg_stat_statements.max', true) IS NOT NULL AS "isLoaded", quote_ident(n.nspname) AS schema, e.extversion AS version
FROM (SELECT 'pg_stat_statements' AS extname) AS wanted
LEFT JOIN pg_extension AS e USING (extname) LEFT JOIN pg_namespace AS n ON n.oid = e.extnamespace`

type Found =
  | { view: { schema: string; remembersReset: boolean }; unavailable: null }
  | { view: null; unavailable: StatementsUnavailableReason }

/** Minor versions of 1.x that added the required columns and the time of the last reset. */
const oldestMinor = 8
const resetTimeMinor = 9

/** Returns the view to read, or why it is unavailable with the setup steps for an administrator. */
export const resolveStatementsView = ({ database, isLoaded, schema, version }: Extension): Found => {
  const asSuperuser = `In the database ${database}, as a superuser: `
  const create = `${asSuperuser}CREATE EXTENSION pg_stat_statements`
  if (!isLoaded) {
    const steps = schema === null ? [...loading, create] : loading
    return missing('missing-table', 'The server does not count statements: pg_stat_statements is not loaded.', steps)
  }
  if (schema === null || version === null) {
    return missing('missing-table', `pg_stat_statements is loaded, but not set up in the database ${database}.`, [
      create,
    ])
  }
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major === 1 && minor < oldestMinor) {
    const update = `${asSuperuser}ALTER EXTENSION pg_stat_statements UPDATE`
    return missing('version', `pg_stat_statements ${version} is too old; version 1.8 or later is required.`, [update])
  }
  return { view: { schema, remembersReset: major > 1 || minor >= resetTimeMinor }, unavailable: null }
}

const loading = [
  'Add pg_stat_statements to shared_preload_libraries in postgresql.conf, or in the parameter group of your managed service.',
  'Restart the server.',
]

const missing = (reason: 'missing-table' | 'version', message: string, steps: string[]): Found => ({
  view: null,
  unavailable: { reason, message, missingTables: reason === 'version' ? [] : ['pg_stat_statements'], steps },
})

interface PostgresRequest {
  order: (typeof postgresStatementOrders)[number]
  search?: string | undefined
  limit: number
}

/** Maximum length of a pattern, in characters. */
const textCharacters = 4_000

const orders: Readonly<Record<PostgresRequest['order'], string>> = {
  total_time: 's.total_exec_time',
  calls: 's.calls',
  mean: 's.mean_exec_time',
  longest: 's.max_exec_time',
  rows: 's.rows',
  read: 's.shared_blks_read',
  temp: 's.temp_blks_written',
  wal: 's.wal_bytes',
}

/** Reads statement patterns since the last statistics reset. */
export const readStatementPatterns = (source: PostgresSource, request: PostgresRequest) =>
  source.read(async (runQuery) => {
    const [extension] = z.tuple([Extension]).parse(await runQuery(Extension, extensionSql))
    const { view, unavailable } = resolveStatementsView(extension)
    const limited = await findMissingPrivilege(runQuery)
    if (!view) return { statements: [], truncated: false, sinceMs: null, unavailable, limited }
    const found = await runQuery(PostgresStatement, statementsSql(view.schema, request.order), [
      request.search ?? '',
      request.limit + 1,
    ])
    const statements = found
      .slice(0, request.limit)
      .map((each) => ({ ...each, query: each.query && removeLiterals(each.query) }))
    const truncated = found.length > request.limit
    return {
      statements,
      truncated,
      sinceMs: view.remembersReset ? await sinceOf(runQuery, view.schema) : null,
      unavailable,
      limited,
    }
  })

/** Returns the statement for the patterns. `schema` is already quoted. */
const statementsSql = (schema: string, order: PostgresRequest['order']): string => `WITH block AS (
  SELECT current_setting('block_size')::float8 AS bytes
), statement AS (
  SELECT * FROM ${schema}.pg_stat_statements AS s WHERE s.query NOT LIKE '${ownStatementPrefix}%'
)
SELECT s.queryid::text AS "queryId", d.datname AS database, r.rolname AS "user",
  CASE WHEN s.query <> '<insufficient privilege>' THEN left(s.query, ${textCharacters}) END AS query,
  s.calls::float8 AS calls, s.total_exec_time AS "totalMs",
  s.total_exec_time / nullif((SELECT sum(total_exec_time) FROM statement), 0) AS share,
  s.mean_exec_time AS "meanMs", s.max_exec_time AS "longestMs", s.total_plan_time AS "planningMs", s.rows::float8 AS rows,
  s.shared_blks_hit::float8 / nullif(s.shared_blks_hit + s.shared_blks_read, 0) AS "cacheHitShare",
  s.shared_blks_read * block.bytes AS "readBytes", s.temp_blks_written * block.bytes AS "tempBytes", s.wal_bytes::float8 AS "walBytes"
FROM statement AS s CROSS JOIN block
LEFT JOIN pg_database AS d ON d.oid = s.dbid
LEFT JOIN pg_roles AS r ON r.oid = s.userid
WHERE strpos(lower(s.query), lower($1)) > 0
ORDER BY ${orders[order]} DESC, s.queryid, s.userid, s.dbid
LIMIT $2`

const Since = z.object({ sinceMs: z.number().nullable() })

const sinceOf = async (runQuery: RunQuery, schema: string): Promise<number | null> => {
  const [since] = await runQuery(
    Since,
    `SELECT ${buildEpochMsSql('stats_reset')} AS "sinceMs" FROM ${schema}.pg_stat_statements_info`,
  )
  return since?.sinceMs ?? null
}
