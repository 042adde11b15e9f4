import { systemClock } from '../../time/clock.ts'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Database } from '../../store/sql/connection.ts'
import { migrate } from '../../store/sql/migrate.ts'
import { type BatchWriter, createBatchWriter } from './batches.ts'
import type { Journal, JournalEntry } from './journal.ts'
import { type AnyStreamName, streamNames, streamConfigs } from './streams.ts'

interface QueueTables {
  watchhouse_queue: {
    key: string
    stream: string
    sequence: number
    subject: string
    id: string
    body: string
    came_at_ms: number
    waiting: string
  }
}
const names = ['watchhouse_queue'] as const

/** Opens a journal in a table of the state database. */
export const openSqlJournal = async (database: Database, log: Logger | undefined): Promise<Journal> => {
  await migrate(database, 'queue', names, [{ name: 'queue', up: createTable }])
  const tables = database.tables<QueueTables>(names)
  const keeping = createBatchWriter<JournalEntry>(async (messages) => {
    const values = messages.map(toRow)
    await database.run(() => tables.insertInto('watchhouse_queue').values(values).execute())
  })
  const forgetting = createRemover(tables, database, log)
  return {
    async load() {
      await removeExpired(tables, database)
      const all = tables.selectFrom('watchhouse_queue').selectAll().orderBy('came_at_ms').orderBy('sequence')
      return (await database.run(() => all.execute())).flatMap(toJournalEntries)
    },
    keep: (message) => keeping.write(message),
    forget: (key) => forgetting.write(key),
    async [Symbol.asyncDispose]() {
      await Promise.all([keeping.idle(), forgetting.idle()])
    },
  }
}

/** Maximum number of failed removals that are retried together with the next removal. */
const maxPendingRows = 10_000

const createRemover = (
  tables: Kysely<QueueTables>,
  database: Database,
  log: Logger | undefined,
): BatchWriter<string> => {
  let pending: readonly string[] = []
  return createBatchWriter<string>(async (keys) => {
    const all = [...pending, ...keys]
    try {
      await database.run(() => tables.deleteFrom('watchhouse_queue').where('key', 'in', all).execute())
      pending = []
    } catch (error) {
      if (pending.length === 0)
        log?.warn({ err: error }, 'handled messages cannot be removed from the journal; retrying with the next one')
      pending = all.slice(-maxPendingRows)
    }
  })
}

/** Removes messages older than the maximum age of their stream, as JetStream does. */
const removeExpired = async (tables: Kysely<QueueTables>, database: Database): Promise<void> => {
  for (const stream of streamNames) {
    const before = systemClock.now() - streamConfigs[stream].maxAgeMs
    const old = tables.deleteFrom('watchhouse_queue').where('stream', '=', stream).where('came_at_ms', '<', before)
    await database.run(() => old.execute())
  }
}

type Row = QueueTables['watchhouse_queue']

/** Converts an entry to a row. Bodies are JSON and stored as text. */
const toRow = ({ cameAtMs, body, waiting, ...message }: JournalEntry): Row => ({
  ...message,
  body: Buffer.from(body).toString('utf8'),
  came_at_ms: cameAtMs,
  waiting: waiting.join(' '),
})

/** Converts a row to a list with its entry; the list is empty if a newer release added the stream. */
const toJournalEntries = ({ stream: name, sequence, body, came_at_ms, waiting, ...row }: Row): JournalEntry[] => {
  const stream = streamNames.find((each): each is AnyStreamName => each === name)
  if (stream === undefined) return []
  return [
    {
      ...row,
      stream,
      sequence: Number(sequence),
      body: Buffer.from(body),
      cameAtMs: Number(came_at_ms),
      waiting: waiting === '' ? [] : waiting.split(' '),
    },
  ]
}

const createTable = async (tables: Kysely<unknown>): Promise<void> => {
  await tables.schema
    .createTable('watchhouse_queue')
    .addColumn('key', 'text', (column) => column.primaryKey())
    .addColumn('stream', 'text', (column) => column.notNull())
    .addColumn('sequence', 'bigint', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('came_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('waiting', 'text', (column) => column.notNull())
    .execute()
}
