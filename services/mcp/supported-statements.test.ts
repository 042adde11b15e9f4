import { expect, it } from 'vitest'
import { requireSupportedStatement } from './supported-statements.ts'

it.each([
  ['SHOW TABLES FROM cafe', 'SHOW is not run here; use list_tables with database'],
  ['show create table cafe.guests', 'use get_table_schema with database and table'],
  ['/* all */ -- of them\n SHOW DATABASES', 'use list_databases'],
  ['SHOW PROCESSLIST', 'use get_running_queries'],
  ['SHOW MERGES', 'use get_merge_status'],
  ['SHOW CHANGED SETTINGS', 'SELECT name, value, changed FROM system.settings'],
  ['SHOW GRANTS FOR ada', 'system.grants'],
  ['SHOW something new', 'use list_databases, list_tables or get_table_schema'],
  ['EXISTS TABLE cafe.guests', 'use list_tables with search'],
  ['USE cafe', 'set the parameter database'],
])('names the alternative to %s', (sql, alternative) => {
  expect(() => requireSupportedStatement(sql)).toThrow(alternative)
})

it.each(['SELECT 1', 'WITH 1 AS x SELECT x', "SELECT 'SHOW TABLES'", 'SELECT show FROM shows', 'DROP TABLE a', ''])(
  'leaves %j to the service that runs statements',
  (sql) => {
    expect(requireSupportedStatement(sql)).toBeUndefined()
  },
)
