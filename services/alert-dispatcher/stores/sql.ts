import { Silence } from '#proto/alert-history.ts'
import { parseJson } from '#shared/text/parse-json.ts'
import { alone } from '#shared/store/sql/alone.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { migrate } from '#shared/store/sql/migrate.ts'
import { sqlEpisodes, sqlEventEpisodes, sqlHistory } from './sql-episodes.ts'
import { type PolicyStore, requireFits, type Silences, type Stores } from './stores.ts'
import { type AlertSql, type AlertTables, alertTables, createEventEpisodes, createTables } from './tables.ts'

/** Kept in the state database, which every process of the dispatcher shares. */
export const sqlStores = async (database: Database): Promise<Stores> => {
  const { prefix } = database
  await migrate(database, 'alerts', alertTables, [
    { name: 'alerts', up: (tables) => createTables(tables, prefix) },
    { name: 'episodes of inbound events', up: (tables) => createEventEpisodes(tables, prefix) },
  ])
  const sql = { database, tables: database.tables<AlertTables>(alertTables) }
  const silences = sqlSilences(sql)
  return {
    lasting: true,
    episodes: sqlEpisodes(sql, silences),
    eventEpisodes: sqlEventEpisodes(sql),
    history: sqlHistory(sql),
    silences,
    policy: sqlPolicy(sql),
  }
}

const policyTable = 'watchhouse_alert_policy'
const silenceTable = 'watchhouse_alert_silences'

const sqlSilences = ({ database, tables }: AlertSql): Silences => ({
  async put(silence) {
    const { kind, episode, ...values } = silenceRow(silence)
    const putting = tables
      .insertInto(silenceTable)
      .values({ kind, episode, ...values })
      .onConflict((conflict) => conflict.columns(['kind', 'episode']).doUpdateSet(values))
    await database.run(() => putting.execute())
  },
  async list() {
    const ended = episodesOf(tables, 'is not')
    const holding = tables.selectFrom(silenceTable).selectAll().where('episode', 'not in', ended).orderBy('at_ms')
    return (await database.run(() => holding.execute())).map(silenceOf)
  },
  async remove(kind, episode) {
    const removing = tables.deleteFrom(silenceTable).where('kind', '=', kind).where('episode', '=', episode)
    return (await database.run(() => removing.executeTakeFirst())).numDeletedRows > 0n
  },
  async prune(beforeMs) {
    const goingOn = episodesOf(tables, 'is')
    const over = tables
      .deleteFrom(silenceTable)
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

type SilenceRow = AlertTables[typeof silenceTable]

const silenceRow = ({ hostKey, ruleId, by, atMs, untilMs, ...silence }: Silence): SilenceRow => ({
  ...silence,
  host_key: hostKey,
  rule_id: ruleId,
  by_subject: by,
  at_ms: atMs,
  until_ms: untilMs,
})

/** A silence as it was kept; PostgreSQL gives 64-bit integers as text. */
const silenceOf = ({ host_key, rule_id, by_subject, at_ms, until_ms, ...row }: SilenceRow): Silence =>
  Silence.parse({
    ...row,
    hostKey: host_key,
    ruleId: rule_id,
    by: by_subject,
    atMs: Number(at_ms),
    untilMs: until_ms === null ? null : Number(until_ms),
  })

const sqlPolicy = ({ database, tables }: AlertSql): PolicyStore => ({
  async all() {
    const all = tables.selectFrom(policyTable).select(['kind', 'id', 'body']).orderBy('kind').orderBy('id')
    const rows = await database.run(() => all.execute())
    // A body that is damaged is no JSON; its entry is then refused by its schema, and named, and the others hold.
    return rows.map(({ kind, id, body }) => ({ kind, id, body: parseJson(body) }))
  },
  put: (kind, id, body, atMs, standing) =>
    alone(database, tables, policyTable + kind, async (transaction) => {
      const values = { body: JSON.stringify(body), changed_at_ms: atMs }
      const entries = await transaction
        .selectFrom(policyTable)
        .select(['id', 'body'])
        .where('kind', '=', kind)
        .execute()
      const others = entries.filter((entry) => entry.id !== id)
      const stands = others.length < entries.length
      if (standing !== undefined && stands !== (standing === 'present')) return false
      const bodies = others.map((other) => ({ body: parseJson(other.body) }))
      requireFits(kind, body, bodies)
      await transaction
        .insertInto(policyTable)
        .values({ kind, id, ...values })
        .onConflict((conflict) => conflict.columns(['kind', 'id']).doUpdateSet(values))
        .execute()
      return true
    }),
  async remove(kind, id) {
    const removing = tables.deleteFrom(policyTable).where('kind', '=', kind).where('id', '=', id)
    return (await database.run(() => removing.executeTakeFirst())).numDeletedRows > 0n
  },
})
