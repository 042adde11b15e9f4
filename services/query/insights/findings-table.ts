import type { Environment } from '#shared/config/environment.ts'
import { type Settings, type Setting, parseSettings } from '#shared/config/setting.ts'
import { quoteName } from '#shared/sql/statement-text.ts'

const databaseName: Setting<string> = {
  doc: 'Database on the monitored hosts for the tables of this service, such as monitoring_events and monitoring_findings.',
  audience: 'server',
  fallback: 'system',
  allowed: 'name of letters, digits and _',
  parse: (given = 'system') => {
    if (/^\w{1,64}$/.test(given)) return given
    throw new Error('must be a name of at most 64 letters, digits and _')
  },
}

/** The setting for the database of Watchhouse's tables on the hosts. */
export const findingsSettings = { COLUMNDB_DATABASE: databaseName } satisfies Settings

/** Returns the name of the table of insights with its database, plain and quoted. */
export const resolveFindingsTable = (env: Environment) => {
  const { COLUMNDB_DATABASE: database } = parseSettings(findingsSettings, env)
  return { full: `${database}.monitoring_findings`, quoted: `${quoteName(database)}.monitoring_findings` }
}

/**
 * Returns the CREATE TABLE statement for insights. Among rows with the same id, the highest version is valid.
 * Fields used in filters have their own columns; `insight` is the complete insight as JSON.
 */
export const createFindingsTableSql = (quoted: string): string => `CREATE TABLE IF NOT EXISTS ${quoted}
(
  id String,
  host LowCardinality(String),
  kind LowCardinality(String),
  subject String,
  day Date,
  severity LowCardinality(String),
  found_at DateTime64(3, 'UTC'),
  dismissed UInt8,
  insight String,
  version UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (host, day, id)`
