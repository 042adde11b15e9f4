import { parseJson } from '#shared/parse-json.ts'
import { alone } from '#shared/store/sql/alone.ts'
import { requireFits, type PolicyStore } from './stores.ts'
import type { AlertSql } from './tables.ts'

const table = 'watchhouse_alert_policy'

export const sqlPolicy = ({ database, tables }: AlertSql): PolicyStore => ({
  async all() {
    const all = tables.selectFrom(table).select(['kind', 'id', 'body']).orderBy('kind').orderBy('id')
    const rows = await database.run(() => all.execute())
    // A body that is damaged is no JSON; its entry is then refused by its schema, and named, and the others hold.
    return rows.map(({ kind, id, body }) => ({ kind, id, body: parseJson(body) }))
  },
  put: (kind, id, body, atMs, standing) =>
    alone(database, tables, table + kind, async (transaction) => {
      const values = { body: JSON.stringify(body), changed_at_ms: atMs }
      const entries = await transaction.selectFrom(table).select(['id', 'body']).where('kind', '=', kind).execute()
      const others = entries.filter((entry) => entry.id !== id)
      const stands = others.length < entries.length
      if (standing !== undefined && stands !== (standing === 'present')) return false
      const bodies = others.map((other) => ({ body: parseJson(other.body) }))
      requireFits(kind, body, bodies)
      await transaction
        .insertInto(table)
        .values({ kind, id, ...values })
        .onConflict((conflict) => conflict.columns(['kind', 'id']).doUpdateSet(values))
        .execute()
      return true
    }),
  async remove(kind, id) {
    const removing = tables.deleteFrom(table).where('kind', '=', kind).where('id', '=', id)
    return (await database.run(() => removing.executeTakeFirst())).numDeletedRows > 0n
  },
})
