import { Silence } from '#proto/alert-history.ts'
import type { Silences } from './stores.ts'
import type { AlertSql, AlertTables } from './tables.ts'

const table = 'watchhouse_alert_silences'

export const sqlSilences = ({ database, tables }: AlertSql): Silences => ({
  async put(silence) {
    const { kind, episode, ...values } = rowOf(silence)
    const putting = tables
      .insertInto(table)
      .values({ kind, episode, ...values })
      .onConflict((conflict) => conflict.columns(['kind', 'episode']).doUpdateSet(values))
    await database.run(() => putting.execute())
  },
  async list() {
    const ended = episodesOf(tables, 'is not')
    const holding = tables.selectFrom(table).selectAll().where('episode', 'not in', ended).orderBy('at_ms')
    return (await database.run(() => holding.execute())).map(silenceOf)
  },
  async remove(kind, episode) {
    const removing = tables.deleteFrom(table).where('kind', '=', kind).where('episode', '=', episode)
    return (await database.run(() => removing.executeTakeFirst())).numDeletedRows > 0n
  },
  async prune(beforeMs) {
    const goingOn = episodesOf(tables, 'is')
    const over = tables
      .deleteFrom(table)
      .where(({ and, eb, or }) =>
        or([
          eb('until_ms', '<', beforeMs),
          and([eb('until_ms', 'is', null), eb('at_ms', '<', beforeMs), eb('episode', 'not in', goingOn)]),
        ]),
      )
    return Number((await database.run(() => over.executeTakeFirst())).numDeletedRows)
  },
})

/** The names of episodes of hosts and of inbound events that go on, or have ended. */
const episodesOf = (tables: AlertSql['tables'], isNull: 'is' | 'is not') =>
  tables
    .selectFrom('watchhouse_alert_episodes')
    .select('id')
    .where('ended_at_ms', isNull, null)
    .unionAll(tables.selectFrom('watchhouse_alert_event_episodes').select('id').where('ended_at_ms', isNull, null))

type Row = AlertTables[typeof table]

const rowOf = ({ hostKey, ruleId, by, atMs, untilMs, ...silence }: Silence): Row => ({
  ...silence,
  host_key: hostKey,
  rule_id: ruleId,
  by_subject: by,
  at_ms: atMs,
  until_ms: untilMs,
})

/** A silence as it was kept; PostgreSQL gives 64-bit integers as text. */
const silenceOf = ({ host_key, rule_id, by_subject, at_ms, until_ms, ...row }: Row): Silence =>
  Silence.parse({
    ...row,
    hostKey: host_key,
    ruleId: rule_id,
    by: by_subject,
    atMs: Number(at_ms),
    untilMs: until_ms === null ? null : Number(until_ms),
  })
