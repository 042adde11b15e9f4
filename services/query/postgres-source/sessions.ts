import { z } from 'zod'
import {
  type PostgresSession as Session,
  PostgresSession,
  SessionCounts,
  type Limited,
} from '#proto/postgres-sessions.ts'
import { ownName, type PostgresSource, type Ask } from './source.ts'

interface Asked {
  all: boolean
  limit: number
  withValues: boolean
}

/** Ours are left out: whoever looks wants to see the others. */
const ofOthers = `NOT (a.application_name = '${ownName}' AND a.usename IS NOT DISTINCT FROM current_user)`
const ofClients = `a.backend_type = 'client backend' AND a.state IS DISTINCT FROM 'idle'`

const sessionsSql = (all: boolean): string => `SELECT a.pid, ${sessionColumns}
FROM pg_stat_activity AS a
WHERE ${ofOthers}${all ? '' : ` AND ${ofClients}`}
ORDER BY a.xact_start ASC NULLS LAST, a.state_change ASC NULLS LAST, a.pid
LIMIT $1`

const countsSql = `SELECT count(*) FILTER (WHERE state IN ('active', 'fastpath function call') AND ${ofOthers})::int AS active,
  count(*) FILTER (WHERE state = 'idle' AND ${ofOthers})::int AS idle,
  count(*) FILTER (WHERE state LIKE 'idle in transaction%')::int AS "idleInTransaction",
  count(*) FILTER (WHERE wait_event_type = 'Lock')::int AS "waitingForLock",
  count(*)::int AS used, current_setting('max_connections')::int AS "limit"
FROM pg_stat_activity AS a
WHERE a.backend_type = 'client backend'`

/** What sessions do now. */
export const readActivity = (source: PostgresSource, { all, limit, withValues }: Asked) =>
  source.read(async (ask) => {
    const sessions: Session[] = await ask(PostgresSession, sessionsSql(all), [limit + 1])
    const [counts] = await ask(SessionCounts, countsSql)
    if (!counts) throw new Error('an aggregate without groups has one row')
    return {
      sessions: sessions.slice(0, limit).map((session) => asReadBy(session, withValues)),
      truncated: sessions.length > limit,
      counts,
      limited: await limitsOf(ask),
    }
  })

/** Characters of a statement that are read. */
const textCharacters = 2_000
/** What PostgreSQL says instead of a statement to who may not see it. */
const hiddenText = '<insufficient privilege>'

/** Milliseconds since an instant, by the clock of the server. */
export const sinceMs = (instant: string): string =>
  `round(extract(epoch FROM clock_timestamp() - ${instant}) * 1000)::float8`
/** An instant as epoch milliseconds. */
export const epochMs = (instant: string): string => `round(extract(epoch FROM ${instant}) * 1000)::float8`

/** Columns of a session `a` of `pg_stat_activity`, besides its pid. Versions before 14 have no `query_id`. */
export const sessionColumns = `a.datname AS database, a.usename AS "user", nullif(a.application_name, '') AS application,
  host(a.client_addr) AS address, a.backend_type AS type, a.state, a.wait_event_type AS "waitType", a.wait_event AS "waitEvent",
  ${sinceMs('a.xact_start')} AS "transactionMs",
  CASE WHEN a.state IN ('active', 'fastpath function call') THEN ${sinceMs('a.query_start')} END AS "statementMs",
  ${sinceMs('a.state_change')} AS "stateMs", to_jsonb(a) ->> 'query_id' AS "queryId",
  CASE WHEN a.query <> '' AND a.query <> '${hiddenText}' THEN left(a.query, ${textCharacters}) END AS query`

/** The same session with its statement as its reader may see it. */
export const asReadBy = <S extends { query: string | null }>(session: S, withValues: boolean): S => ({
  ...session,
  query: session.query && (withValues ? forPeople : withoutValues)(session.query),
})

const Role = z.object({ seesAll: z.boolean(), grant: z.string() })

/** What the user of the source may not see, if anything. */
export const limitsOf = async (ask: Ask): Promise<Limited | null> => {
  const [role] = await ask(
    Role,
    `SELECT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') AS "seesAll", format('GRANT pg_monitor TO %I', current_user) AS grant`,
  )
  if (!role || role.seesAll) return null
  const message = 'Statements, states and lags of other users are hidden from the user of SVC_POSTGRES_SOURCE_URL.'
  return { message, grant: role.grant }
}

/** The rest of a comment from here on; comments of PostgreSQL may hold others. */
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
 * One piece of a statement at a time. Texts that lack their end are cut ones, and go on to the end. `escaped` and `plain` are
 * literals, `quoted` is a name, `tag` begins a text in dollars, and `number` stands for itself alone.
 */
const piece =
  /(?<line>--[^\n]*)|(?<block>\/\*)|(?<escaped>[eE]'(?:[^'\\]|\\[^]|'')*(?:'|\\?$))|(?<plain>(?:[bBxXnN]|[uU]&)?'(?:[^']|'')*(?:'|$))|(?<quoted>"(?:[^"]|"")*(?:"|$))|(?<tag>\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)|(?<word>\$\d+|[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)|(?<number>\.?\d[\w.]*(?:(?<=[eE])[+-]\d+)?)|(?<space>\s+)|(?<sign>[^])/gy

/**
 * A statement of PostgreSQL with a question mark for each value and without comments, so that nothing of people or secrets is
 * left in it. Cut statements may end within a value.
 */
export const withoutValues = (text: string): string => {
  let shown = ''
  piece.lastIndex = 0
  for (let found = piece.exec(text); found; found = piece.exec(text)) {
    const { line, block, quoted, tag, word, space, sign } = found.groups ?? {}
    if (block !== undefined) piece.lastIndex = blockComment(text, found.index)
    if (tag !== undefined) piece.lastIndex = endOf(text, tag, piece.lastIndex)
    if (line !== undefined || block !== undefined || space !== undefined) shown += ' '
    else shown += quoted ?? word ?? sign ?? '?'
  }
  return shown.replace(/ {2,}/g, ' ').trim()
}

const endOf = (text: string, tag: string, from: number): number => {
  const end = text.indexOf(tag, from)
  return end < 0 ? text.length : end + tag.length
}

/** PostgreSQL hides no secret of statements that make roles, servers or subscriptions, or that connect elsewhere. */
const mayHoldSecret = /passw|secret|token|credential|:\/\/|crypt|_key\b/i

/** A statement as people may see it: with its values, unless one of them may be a secret. */
export const forPeople = (text: string): string => (mayHoldSecret.test(text) ? withoutValues(text) : text)
