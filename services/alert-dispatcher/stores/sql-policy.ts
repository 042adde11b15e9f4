import { requireRoom } from './room.ts'
import type { PolicyStore } from './stores.ts'
import type { AlertSql } from './tables.ts'

const table = 'watchhouse_alert_policy'

export const sqlPolicy = ({ database, tables }: AlertSql): PolicyStore => ({
  async all() {
    const all = tables.selectFrom(table).select(['kind', 'id', 'body']).orderBy('kind').orderBy('id')
    const rows = await database.run(() => all.execute())
    return rows.map(({ kind, id, body }) => ({ kind, id, body: JSON.parse(body) }))
  },
  async put(kind, id, body, atMs) {
    const values = { body: JSON.stringify(body), changed_at_ms: atMs }
    const others = tables
      .selectFrom(table)
      .select((select) => select.fn.countAll().as('count'))
      .where('kind', '=', kind)
      .where('id', '!=', id)
    // Two at once may pass the limit by one, which harms nobody.
    const { count } = await database.run(() => others.executeTakeFirstOrThrow())
    requireRoom(kind, Number(count))
    const putting = tables
      .insertInto(table)
      .values({ kind, id, ...values })
      .onConflict((conflict) => conflict.columns(['kind', 'id']).doUpdateSet(values))
    await database.run(() => putting.execute())
  },
  async remove(kind, id) {
    const removing = tables.deleteFrom(table).where('kind', '=', kind).where('id', '=', id)
    return (await database.run(() => removing.executeTakeFirst())).numDeletedRows > 0n
  },
})
