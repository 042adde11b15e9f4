import { HistoryEntry } from '#proto/alert-history.ts'
import { removeOld } from './remove-old.ts'
import type { History } from './stores.ts'
import type { AlertSql, AlertTables } from './tables.ts'

const table = 'watchhouse_alert_history'

export const sqlHistory = ({ database, tables }: AlertSql): History => ({
  async list({ hostKey, fromMs, toMs, limit }) {
    let wanted = tables.selectFrom(table).selectAll().orderBy('at_ms', 'desc').orderBy('id').limit(limit)
    if (hostKey !== undefined) wanted = wanted.where('host_key', '=', hostKey)
    if (fromMs !== undefined) wanted = wanted.where('at_ms', '>=', fromMs)
    if (toMs !== undefined) wanted = wanted.where('at_ms', '<', toMs)
    return (await database.run(() => wanted.execute())).map(entryOf)
  },
  prune: (beforeMs) =>
    removeOld((limit) => {
      const old = tables.selectFrom(table).select('id').where('at_ms', '<', beforeMs).limit(limit)
      return database.run(() => tables.deleteFrom(table).where('id', 'in', old).executeTakeFirst())
    }),
})

type Row = AlertTables[typeof table]

/** A line as it is kept. */
export const historyRow = ({ hostKey, ruleId, sinceMs, atMs, ...entry }: HistoryEntry): Row => ({
  ...entry,
  host_key: hostKey,
  rule_id: ruleId,
  since_ms: sinceMs,
  at_ms: atMs,
})

const entryOf = ({ host_key, rule_id, since_ms, at_ms, ...row }: Row): HistoryEntry =>
  HistoryEntry.parse({
    ...row,
    hostKey: host_key,
    ruleId: rule_id,
    sinceMs: Number(since_ms),
    atMs: Number(at_ms),
  })
