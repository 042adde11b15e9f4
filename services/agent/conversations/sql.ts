import type { Kysely, SelectQueryBuilder } from 'kysely'
import { Conversation, type ConversationSummary } from '#proto/conversations.ts'
import { type Database, openDatabase } from '#shared/store/sql/connection.ts'
import { migrate } from '#shared/store/sql/migrate.ts'
import type { StateDatabase } from '#shared/store/sql/state-database.ts'
import { cutPage, positionOf } from './cursor.ts'
import { type ConversationStore, type Kept, mostConversations, type Place, wholeAtOnce, type Written } from './store.ts'
import { tooMany } from './written.ts'

const table = 'agent_conversations'

/** What lists tell has columns; messages and evidence are JSON. */
interface Tables {
  [table]: {
    owner: string
    id: string
    title: string
    host_key: string | null
    model: string | null
    message_count: number
    created_at_ms: number
    updated_at_ms: number
    messages: string
    evidence: string
  }
}

const told = ['id', 'title', 'host_key', 'model', 'message_count', 'created_at_ms', 'updated_at_ms'] as const
type Told = Pick<Tables[typeof table], (typeof told)[number]>

/** Kept in the table `agent_conversations` of a PostgreSQL or SQLite database. */
export const openSqlStore = async (where: StateDatabase, most = mostConversations): Promise<ConversationStore> => {
  await using opened = new AsyncDisposableStack()
  const database = opened.use(await openDatabase(where))
  const { prefix } = database
  await migrate(database, 'conversations', [table], [{ name: 'conversations', up: (all) => createTable(all, prefix) }])
  const store = storeOver(database, most)
  const held = opened.move()
  return { ...store, [Symbol.asyncDispose]: () => held.disposeAsync() }
}

const storeOver = (database: Database, most: number): Omit<ConversationStore, typeof Symbol.asyncDispose> => {
  const tables = database.tables<Tables>([table])
  const one = (owner: string, id: string) => tables.selectFrom(table).where('owner', '=', owner).where('id', '=', id)
  const removed = async (removing: { executeTakeFirst(): Promise<{ numDeletedRows: bigint }> }) =>
    Number((await database.run(() => removing.executeTakeFirst())).numDeletedRows)

  return {
    backend: database.kind === 'postgres' ? 'postgres' : 'edgesql',
    async list(owner, place) {
      const found = pageOf(tables.selectFrom(table).select(told), owner, place)
      return cutPage((await database.run(() => found.execute())).map(summaryOf), place.limit)
    },
    async whole(owner, cursor) {
      const found = pageOf(tables.selectFrom(table).selectAll(), owner, { limit: wholeAtOnce, cursor })
      const page = cutPage((await database.run(() => found.execute())).map(positioned), wholeAtOnce)
      return { ...page, conversations: page.conversations.flatMap(({ row }) => conversationOf(row) ?? []) }
    },
    async get(owner, id) {
      const row = await database.run(() => one(owner, id).selectAll().executeTakeFirst())
      return row && conversationOf(row)
    },
    put: (owner, written) => database.run(() => put(tables, owner, written, most)),
    async retitle(owner, id, from, to) {
      const retitling = tables.updateTable(table).set({ title: to }).where('owner', '=', owner).where('id', '=', id)
      await database.run(() => retitling.where('title', '=', from).execute())
    },
    remove: async (owner, id) =>
      (await removed(tables.deleteFrom(table).where('owner', '=', owner).where('id', '=', id))) > 0,
    removeAll: (owner) => removed(tables.deleteFrom(table).where('owner', '=', owner)),
    prune: (beforeMs) => removed(tables.deleteFrom(table).where('updated_at_ms', '<', beforeMs)),
  }
}

/** One more than asked for, which tells whether there is more. */
const pageOf = <O>(
  select: SelectQueryBuilder<Tables, typeof table, O>,
  owner: string,
  { limit, cursor }: Place,
): SelectQueryBuilder<Tables, typeof table, O> => {
  const after = cursor === undefined ? undefined : positionOf(cursor)
  const own = select.where('owner', '=', owner)
  const rest =
    after === undefined
      ? own
      : own.where((where) =>
          where.or([
            where('updated_at_ms', '<', after.updatedAtMs),
            where.and([where('updated_at_ms', '=', after.updatedAtMs), where('id', '<', after.id)]),
          ]),
        )
  return rest
    .orderBy('updated_at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
}

const put = async (tables: Kysely<Tables>, owner: string, written: Written, most: number): Promise<Kept> => {
  const changed = {
    ...(written.title !== undefined && { title: written.title }),
    ...(written.evidence !== undefined && { evidence: JSON.stringify(written.evidence) }),
    host_key: written.hostKey,
    model: written.model,
    message_count: written.messages.length,
    updated_at_ms: written.atMs,
    messages: JSON.stringify(written.messages),
  }
  const replacing = tables.updateTable(table).set(changed).where('owner', '=', owner).where('id', '=', written.id)
  const replaced = await replacing.returning(told).executeTakeFirst()
  if (replaced) return { created: false, conversation: summaryOf(replaced) }
  await requireRoom(tables, owner, most)
  const fresh = { title: written.firstWords, evidence: '[]', created_at_ms: written.atMs, ...changed }
  const added = await tables
    .insertInto(table)
    .values({ owner, id: written.id, ...fresh })
    // Two that begin the same conversation at once are one; the later one counts.
    .onConflict((conflict) => conflict.columns(['owner', 'id']).doUpdateSet(changed))
    .returning(told)
    .executeTakeFirstOrThrow()
  return { created: true, conversation: summaryOf(added) }
}

/** Two at once may both find room for one, which does no harm. */
const requireRoom = async (tables: Kysely<Tables>, owner: string, most: number): Promise<void> => {
  const counting = tables.selectFrom(table).select((select) => select.fn.countAll().as('count'))
  const { count } = await counting.where('owner', '=', owner).executeTakeFirstOrThrow()
  if (Number(count) >= most) throw tooMany(most)
}

/** PostgreSQL gives 64-bit integers as text. */
const summaryOf = (row: Told): ConversationSummary => ({
  id: row.id,
  title: row.title,
  hostKey: row.host_key,
  model: row.model,
  messageCount: row.message_count,
  createdAtMs: Number(row.created_at_ms),
  updatedAtMs: Number(row.updated_at_ms),
})

type Row = Tables[typeof table]

const positioned = (row: Row) => ({ row, id: row.id, updatedAtMs: Number(row.updated_at_ms) })

/** None of one that a release wrote whose messages this one cannot read. */
const conversationOf = (row: Row): Conversation | undefined => {
  const whole = { ...summaryOf(row), messages: JSON.parse(row.messages), evidence: JSON.parse(row.evidence) }
  return Conversation.safeParse(whole).data
}

const createTable = async (tables: Kysely<unknown>, prefix: string): Promise<void> => {
  await tables.schema
    .createTable(table)
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('title', 'text', (column) => column.notNull())
    .addColumn('host_key', 'text')
    .addColumn('model', 'text')
    .addColumn('message_count', 'integer', (column) => column.notNull())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('updated_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('messages', 'text', (column) => column.notNull())
    .addColumn('evidence', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint(`${prefix}${table}_key`, ['owner', 'id'])
    .execute()
  const index = (name: string, columns: string[]) =>
    tables.schema.createIndex(`${prefix}${table}_${name}`).on(table).columns(columns).execute()
  await index('list', ['owner', 'updated_at_ms', 'id'])
  await index('age', ['updated_at_ms'])
}
