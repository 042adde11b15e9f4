import { z } from 'zod'
import type { StatementsUnavailable } from '#proto/postgres-statistics.ts'

/** How far `pg_stat_statements` is set up. `schema` is quoted; it and `version` are null where the database has no such extension. */
export const Extension = z.object({
  database: z.string(),
  isLoaded: z.boolean(),
  schema: z.string().nullable(),
  version: z.string().nullable(),
})
export type Extension = z.infer<typeof Extension>

/** The library has its setting as soon as the server loads it. */
export const extensionSql = `SELECT current_database() AS database,
  current_setting('pg_stat_statements.max', true) IS NOT NULL AS "isLoaded", quote_ident(n.nspname) AS schema, e.extversion AS version
FROM (SELECT 'pg_stat_statements' AS extname) AS wanted
LEFT JOIN pg_extension AS e USING (extname) LEFT JOIN pg_namespace AS n ON n.oid = e.extnamespace`

type Found =
  | { view: { schema: string; remembersReset: boolean }; unavailable: null }
  | { view: null; unavailable: StatementsUnavailable }

/** The minor version of 1.x since which the view has the columns that are read, and since which it tells when it was reset. */
const oldestMinor = 8
const rememberingMinor = 9

/** Where the view is, or what an administrator does so that there is one. */
export const viewOf = ({ database, isLoaded, schema, version }: Extension): Found => {
  const asSuperuser = `In the database ${database}, as a superuser: `
  const create = `${asSuperuser}CREATE EXTENSION pg_stat_statements`
  if (!isLoaded) {
    const steps = schema === null ? [...loading, create] : loading
    return missing('missing-table', 'The server does not count statements: pg_stat_statements is not loaded.', steps)
  }
  if (schema === null || version === null) {
    return missing('missing-table', `pg_stat_statements is loaded, but not set up in the database ${database}.`, [
      create,
    ])
  }
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major === 1 && minor < oldestMinor) {
    const update = `${asSuperuser}ALTER EXTENSION pg_stat_statements UPDATE`
    return missing('version', `pg_stat_statements ${version} is too old to be read here.`, [update])
  }
  return { view: { schema, remembersReset: major > 1 || minor >= rememberingMinor }, unavailable: null }
}

const loading = [
  'Add pg_stat_statements to shared_preload_libraries in postgresql.conf, or in the parameters of whoever runs the server for you.',
  'Restart the server.',
]

const missing = (reason: 'missing-table' | 'version', message: string, steps: string[]): Found => ({
  view: null,
  unavailable: { reason, message, missingTables: reason === 'version' ? [] : ['pg_stat_statements'], steps },
})
