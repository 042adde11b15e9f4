import { type PostgresSession as Session, PostgresSession, SessionCounts } from '#proto/postgres-sessions.ts'
import { asReadBy, limitsOf, sessionColumns } from './sessions.ts'
import { ownName, type PostgresSource } from './source.ts'

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
