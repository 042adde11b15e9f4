import type { Environment } from '#shared/config/environment.ts'
import { type Settings, type Setting, read } from '#shared/config/setting.ts'
import { quoteName } from '#shared/sql/statement-text.ts'

const databaseName: Setting<string> = {
  doc: 'Database on the monitored hosts for the tables of this service, such as monitoring_events and monitoring_findings.',
  audience: 'server',
  fallback: 'system',
  allowed: 'name of letters, digits and _',
  parse: (given = 'system') => {
    if (/^\w{1,64}$/.test(given)) return given
    throw new Error('must be a name of letters, digits and _, 64 at most')
  },
}

/** Where the product keeps tables of its own on the hosts. */
export const findingsSettings = { COLUMNDB_DATABASE: databaseName } satisfies Settings

/** The table of findings, with its database. */
export const findingsTable = (env: Environment) => {
  const { COLUMNDB_DATABASE: database } = read(findingsSettings, env)
  return { full: `${database}.monitoring_findings`, quoted: `${quoteName(database)}.monitoring_findings` }
}

/**
 * One row for each insight, and the row with the highest version wins. Filtered fields have columns; `insight` is
 * all of it as JSON.
 */
export const createTable = (quoted: string): string => `CREATE TABLE IF NOT EXISTS ${quoted}
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
