import type { Sql } from '#proto/catalogue.ts'

/** Where the product keeps its own page views, unless `EVENTS_TABLE_NAME` says otherwise. */
export const defaultEventsTable = 'system.monitoring_events'

/** Page views name who opened a page, so they are kept for half a year and no longer. */
const keptDays = 180

/** The columns that definitions may use; `extra` is JSON with `device`, `country` and `bot`. */
export const createEventsTable = (table: string): string => `CREATE TABLE IF NOT EXISTS ${table}
(
  event_date Date DEFAULT toDate(event_time),
  event_time DateTime DEFAULT now(),
  kind LowCardinality(String),
  actor LowCardinality(String),
  data String,
  extra String
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(event_date)
ORDER BY (kind, event_date, event_time)
TTL event_date + INTERVAL ${keptDays} DAY`

/** A definition with the table of `EVENTS_TABLE_NAME` where it says `$events`. */
export const nameEvents = <D extends { sql: Sql; requires: string[] }>(definition: D, table: string): D => {
  const named = (sql: string): string => sql.replaceAll(/\$events\b/g, () => table)
  const { sql, requires } = definition
  return {
    ...definition,
    requires: requires.map(named),
    sql: typeof sql === 'string' ? named(sql) : sql.map((branch) => ({ ...branch, sql: named(branch.sql) })),
  }
}
