import { z } from 'zod'
import type { Limited } from '#proto/postgres-sessions.ts'
import type { Ask } from './source.ts'
import { forPeople, withoutValues } from './statement-text.ts'

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
