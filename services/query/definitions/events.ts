import type { VersionedSql } from '#proto/catalogue.ts'

/** The default of `EVENTS_TABLE_NAME`, the table of page views. */
export const defaultEventsTable = 'system.monitoring_events'

/** The retention of page views in days. It is limited because page views contain the names of users. */
const retentionDays = 180

/** Returns the CREATE TABLE statement for page views. `extra` is JSON with `device`, `country` and `bot`. */
export const createEventsTableSql = (table: string): string => `CREATE TABLE IF NOT EXISTS ${table}
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
TTL event_date + INTERVAL ${retentionDays} DAY`

/** Returns a definition in which `table` replaces `$events`. */
export const expandEventsTable = <D extends { sql: VersionedSql; requires: string[] }>(
  definition: D,
  table: string,
): D => {
  const named = (sql: string): string => sql.replaceAll(/\$events\b/g, () => table)
  const { sql, requires } = definition
  return {
    ...definition,
    requires: requires.map(named),
    sql: typeof sql === 'string' ? named(sql) : sql.map((branch) => ({ ...branch, sql: named(branch.sql) })),
  }
}
