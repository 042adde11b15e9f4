import { z } from 'zod'
import type { Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { hostFailure } from '../clickhouse/failure.ts'
import type { Statement } from '../clickhouse/statement.ts'
import type { Parts } from './parts.ts'

/** Names that completion can make use of. */
const maxTables = 50_000

const statement: Statement = {
  what: 'database-tables',
  cache: 'standard',
  sql: `SELECT database, name, engine
FROM system.tables
WHERE database NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema') AND NOT is_temporary
ORDER BY database, name
LIMIT ${maxTables}`,
}

const Rows = z.array(z.tuple([z.string(), z.string(), z.string()]))

/** Every table outside the system databases. */
export const databaseTables =
  (parts: Parts): Handlers<typeof query>['databaseTables'] =>
  async ({ hostKey }, call) => {
    const host = parts.hosts.get(hostKey)
    const rows = Rows.safeParse((await parts.client.run(host, statement, call)).rows)
    if (!rows.success) throw hostFailure(host, 'garbage')
    return rows.data.map(([database, table, engine]) => ({ database, table, engine }))
  }
