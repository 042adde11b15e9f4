import { ServiceError } from '#proto/errors.ts'

/** What to use instead of statements that `query` does not run, by the beginning of the statement. */
const alternatives: readonly (readonly [RegExp, string])[] = [
  [/^SHOW\s+(FULL\s+)?(TEMPORARY\s+)?(TABLES|VIEWS|DICTIONARIES)\b/, 'use list_tables with database'],
  [
    /^SHOW\s+(CREATE|COLUMNS|FIELDS|FULL\s+COLUMNS|INDEX|INDEXES|INDICES|KEYS)\b/,
    'use get_table_schema with database and table',
  ],
  [/^SHOW\s+(DATABASES|SCHEMAS)\b/, 'use list_databases'],
  [/^SHOW\s+(FULL\s+)?PROCESSLIST\b/, 'use get_running_queries'],
  [/^SHOW\s+MERGES\b/, 'use get_merge_status'],
  [
    /^SHOW\s+(GRANTS|ACCESS|USERS|ROLES|CURRENT\s+ROLES|ENABLED\s+ROLES|QUOTAS?|PROFILES|POLICIES|ROW\s+POLICIES)\b/,
    'SELECT from system.grants, system.users, system.roles, system.quotas or system.row_policies',
  ],
  [/^SHOW\s+(CHANGED\s+)?SETTINGS?\b/, 'SELECT name, value, changed FROM system.settings'],
  [/^SHOW\s+FUNCTIONS\b/, 'SELECT name FROM system.functions'],
  [/^SHOW\s+ENGINES\b/, 'SELECT name FROM system.table_engines'],
  [/^SHOW\s+CLUSTERS?\b/, 'SELECT * FROM system.clusters'],
  [/^SHOW\s+FILESYSTEM\s+CACHES\b/, 'SELECT * FROM system.filesystem_cache_settings'],
  [/^SHOW\b/, 'use list_databases, list_tables or get_table_schema, or SELECT from the table of system that has it'],
  [/^EXISTS\b/, 'use list_tables with search, or SELECT from system.tables'],
  [/^USE\b/, 'set the parameter database'],
]

const comments = /^(?:\s+|--[^\n]*(?:\n|$)|#[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)+/

/** Throws `invalid` with the alternative for statements whose purpose another tool or parameter has. */
export const requireSupportedStatement = (sql: string): void => {
  const statement = sql.replace(comments, '').toUpperCase()
  const [, alternative] = alternatives.find(([pattern]) => pattern.test(statement)) ?? []
  if (alternative === undefined) return
  const [word = ''] = statement.split(/\s/)
  throw new ServiceError('invalid', `query: ${word} is not run here; ${alternative}`)
}
