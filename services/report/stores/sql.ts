import type { Kysely } from 'kysely'
import { type Insight, StoredInsight } from '#proto/insights.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { migrate } from '#shared/store/sql/migrate.ts'
import { createHostTable } from '../host-table.ts'
import type { InsightStore } from './store.ts'

const table = 'insights_findings'
/** Rows that one statement carries at most: SQLite takes 32,766 values. */
const rowsAtOnce = 500

/** What is asked for has a column; `insight` is all of it as JSON. */
interface InsightTables {
  [table]: { id: string; host_key: string; found_at_ms: number; insight: string }
}

/** Kept in the table `insights_findings` of a PostgreSQL or SQLite database. */
export const sqlStore = async (database: Database): Promise<InsightStore> => {
  const { prefix } = database
  await migrate(database, 'insights', [table], [{ name: 'insights', up: (tables) => createTable(tables, prefix) }])
  const tables = database.tables<InsightTables>([table])
  return {
    backend: database.kind === 'postgres' ? 'postgres' : 'edgesql',
    async list({ hostKey, sinceMs, limit, ids }) {
      const found = tables
        .selectFrom(table)
        .select('insight')
        .where('host_key', '=', hostKey)
        .where('found_at_ms', '>=', sinceMs)
        .$if(ids !== undefined, (all) => all.where('id', 'in', ids ?? []))
        .orderBy('found_at_ms', 'desc')
        .orderBy('id')
        .limit(limit)
      return (await database.run(() => found.execute())).flatMap(({ insight }) => readInsight(insight))
    },
    async put(_hostKey, insights) {
      for (let from = 0; from < insights.length; from += rowsAtOnce) {
        const putting = tables
          .insertInto(table)
          .values(insights.slice(from, from + rowsAtOnce).map(rowOf))
          .onConflict((conflict) =>
            conflict.column('id').doUpdateSet(({ ref }) => ({
              found_at_ms: ref('excluded.found_at_ms'),
              insight: ref('excluded.insight'),
            })),
          )
        await database.run(() => putting.execute())
      }
    },
    async prune(beforeMs) {
      const removing = tables.deleteFrom(table).where('found_at_ms', '<', beforeMs)
      return Number((await database.run(() => removing.executeTakeFirst())).numDeletedRows)
    },
  }
}

const createTable = (tables: Kysely<unknown>, prefix: string): Promise<void> =>
  createHostTable(tables, { name: table, prefix, at: 'found_at_ms', texts: ['insight'] })

const rowOf = (insight: Insight) => ({
  id: insight.id,
  host_key: insight.hostKey,
  found_at_ms: insight.foundAtMs,
  insight: JSON.stringify(insight),
})

/** None for one that a release wrote whose insights this one cannot read. */
const readInsight = (text: string): Insight[] => {
  const read = StoredInsight.safeParse(JSON.parse(text))
  return read.success ? [read.data] : []
}
