import { z } from 'zod'
import {
  type PostgresSession as Session,
  PostgresSession,
  SessionCounts,
  type MissingPrivilege,
} from '#proto/postgres-sessions.ts'
import { ownApplicationName, type PostgresSource, type RunQuery } from './source.ts'

interface PostgresRequest {
  all: boolean
  limit: number
  withValues: boolean
}

/** Condition that excludes the sessions of Watchhouse. */
const otherSessionsCondition = `NOT (a.application_name = '${ownApplicationName}' AND a.usename IS NOT DISTINCT FROM current_user)`
const ofClients = `a.backend_type = 'client backend' AND a.state IS DISTINCT FROM 'idle'`

const sessionsSql = (all: boolean): string => `SELECT a.pid, ${sessionColumns}
FROM pg_stat_activity AS a
WHERE ${otherSessionsCondition}${all ? '' : ` AND ${ofClients}`}
ORDER BY a.xact_start ASC NULLS LAST, a.state_change ASC NULLS LAST, a.pid
LIMIT $1`

const countsSql = `SELECT count(*) FILTER (WHERE state IN ('active', 'fastpath function call') AND ${otherSessionsCondition})::int AS active,
  count(*) FILTER (WHERE state = 'idle' AND ${otherSessionsCondition})::int AS idle,
  count(*) FILTER (WHERE state LIKE 'idle in transaction%')::int AS "idleInTransaction",
  count(*) FILTER (WHERE wait_event_type = 'Lock')::int AS "waitingForLock",
  count(*)::int AS used, current_setting('max_connections')::int AS "limit"
FROM pg_stat_activity AS a
WHERE a.backend_type = 'client backend'`

/** Reads the current sessions. */
export const readSessions = (source: PostgresSource, { all, limit, withValues }: PostgresRequest) =>
  source.read(async (runQuery) => {
    const sessions: Session[] = await runQuery(PostgresSession, sessionsSql(all), [limit + 1])
    const [counts] = await runQuery(SessionCounts, countsSql)
    if (!counts) throw new Error('cannot count sessions: the query returned no row')
    return {
      sessions: sessions.slice(0, limit).map((session) => redactSession(session, withValues)),
      truncated: sessions.length > limit,
      counts,
      limited: await findMissingPrivilege(runQuery),
    }
  })

/** Maximum length of a statement, in characters. */
const textCharacters = 2_000
/** PostgreSQL's placeholder for statements that the user may not see. */
const hiddenText = '<insufficient privilege>'

/** Returns SQL for the milliseconds since an instant, by the server's clock. */
export const buildElapsedMsSql = (instant: string): string =>
  `round(extract(epoch FROM clock_timestamp() - ${instant}) * 1000)::float8`
/** Returns SQL for an instant in epoch milliseconds. */
export const buildEpochMsSql = (instant: string): string => `round(extract(epoch FROM ${instant}) * 1000)::float8`

/** Columns of a session `a` of `pg_stat_activity`, except its pid. Versions before 14 have no `query_id`. */
export const sessionColumns = `a.datname AS database, a.usename AS "user", nullif(a.application_name, '') AS application,
  host(a.client_addr) AS address, a.backend_type AS type, a.state, a.wait_event_type AS "waitType", a.wait_event AS "waitEvent",
  ${buildElapsedMsSql('a.xact_start')} AS "transactionMs",
  CASE WHEN a.state IN ('active', 'fastpath function call') THEN ${buildElapsedMsSql('a.query_start')} END AS "statementMs",
  ${buildElapsedMsSql('a.state_change')} AS "stateMs", to_jsonb(a) ->> 'query_id' AS "queryId",
  CASE WHEN a.query <> '' AND a.query <> '${hiddenText}' THEN left(a.query, ${textCharacters}) END AS query`

/** Removes literals from a session's statement: always, or if `withValues` is set, only if it may contain secrets. */
export const redactSession = <S extends { query: string | null }>(session: S, withValues: boolean): S => ({
  ...session,
  query: session.query && (withValues ? removeSecretLiterals : removeLiterals)(session.query),
})

const Role = z.object({ seesAll: z.boolean(), grant: z.string() })

/** Returns the privilege that the source's user lacks to see other users' statistics, or null when it has it. */
export const findMissingPrivilege = async (runQuery: RunQuery): Promise<MissingPrivilege | null> => {
  const [role] = await runQuery(
    Role,
    `SELECT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') AS "seesAll", format('GRANT pg_monitor TO %I', current_user) AS grant`,
  )
  if (!role || role.seesAll) return null
  const message = 'Statements, states and lags of other users are hidden from the user of SVC_POSTGRES_SOURCE_URL.'
  return { message, grant: role.grant }
}

/** Finds the end of a comment. PostgreSQL comments can be nested. */
const blockComment = (text: string, start: number): number => {
  let depth = 0
  const edge = /\/\*|\*\//g
  edge.lastIndex = start
  for (let found = edge.exec(text); found; found = edge.exec(text)) {
    depth += found[0] === '/*' ? 1 : -1
    if (depth === 0) return edge.lastIndex
  }
  return text.length
}

/**
 * Matches one token. Unterminated tokens come from truncated statements and extend to the end. `escaped` and `plain`
 * are string literals, `quoted` is an identifier, `tag` starts a dollar-quoted string, `number` is a number.
 */
const tokenPattern =
  /(?<line>--[^\n]*)|(?<block>\/\*)|(?<escaped>[eE]'(?:[^'\\]|\\[^]|'')*(?:'|\\?$))|(?<plain>(?:[bBxXnN]|[uU]&)?'(?:[^']|'')*(?:'|$))|(?<quoted>"(?:[^"]|"")*(?:"|$))|(?<tag>\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)|(?<word>\$\d+|[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)|(?<number>\.?\d[\w.]*(?:(?<=[eE])[+-]\d+)?)|(?<space>\s+)|(?<sign>[^])/gy

/**
 * Replaces each literal of a PostgreSQL statement by `?` and removes comments, so that no personal data or secret is
 * left. Truncated statements may end within a literal.
 */
export const removeLiterals = (text: string): string => {
  let shown = ''
  tokenPattern.lastIndex = 0
  for (let found = tokenPattern.exec(text); found; found = tokenPattern.exec(text)) {
    const { line, block, quoted, tag, word, space, sign } = found.groups ?? {}
    if (block !== undefined) tokenPattern.lastIndex = blockComment(text, found.index)
    if (tag !== undefined) tokenPattern.lastIndex = endOf(text, tag, tokenPattern.lastIndex)
    if (line !== undefined || block !== undefined || space !== undefined) shown += ' '
    else shown += quoted ?? word ?? sign ?? '?'
  }
  return shown.replace(/ {2,}/g, ' ').trim()
}

const endOf = (text: string, tag: string, from: number): number => {
  const end = text.indexOf(tag, from)
  return end < 0 ? text.length : end + tag.length
}

/** Matches statements that may contain secrets, such as CREATE ROLE or SUBSCRIPTION. PostgreSQL does not mask them. */
const secretPattern = /passw|secret|token|credential|:\/\/|crypt|_key\b/i

/** Returns a statement with its literals, unless it may contain a secret. */
export const removeSecretLiterals = (text: string): string => (secretPattern.test(text) ? removeLiterals(text) : text)
