import { z } from 'zod'
import type { Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { hostFailure } from '../clickhouse/failure.ts'
import type { Statement } from '../clickhouse/statement.ts'
import type { Parts } from './parts.ts'

/** A view keeps its rows in such a table; people read the view. */
const isInner = "startsWith(name, '.inner.') OR startsWith(name, '.inner_id.')"

const statement = (limit: number, search = ''): Statement => ({
  what: 'database-tables',
  cache: 'standard',
  sql: `SELECT database, name, engine, total_rows
FROM system.tables
WHERE database NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema') AND NOT is_temporary AND NOT (${isInner})
  AND positionCaseInsensitiveUTF8(concat(database, '.', name), {search:String}) > 0
ORDER BY total_rows DESC NULLS LAST, database, name
LIMIT ${limit}`,
  parameters: { search },
})

const Rows = z.array(z.tuple([z.string(), z.string(), z.string(), z.coerce.number().nullable()]))

/** Tables that people made, outside the system databases. */
export const databaseTables =
  (parts: Parts): Handlers<typeof query>['databaseTables'] =>
  async ({ hostKey, limit, search }, call) => {
    const host = parts.hosts.get(hostKey)
    const rows = Rows.safeParse((await parts.client.run(host, statement(limit, search), call)).rows)
    if (!rows.success) throw hostFailure(host, 'garbage')
    return rows.data.map(([database, table, engine, totalRows]) => ({ database, table, engine, totalRows }))
  }
