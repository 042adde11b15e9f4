import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type TestServer, describeWith, startPostgres } from '../../../testing/describe-with.ts'
import { type Database, openDatabase } from './connection.ts'
import { type Migration, migrate } from './migrate.ts'
import type { StateDatabase } from './state-database.ts'

interface NoteTables {
  notes: { text: string; author: string | null }
}

const names = ['notes'] as const
const create: Migration = {
  name: 'notes',
  up: (tables) => tables.schema.createTable('notes').addColumn('text', 'text').execute(),
}
const addAuthor: Migration = {
  name: 'authors',
  up: (tables) => tables.schema.alterTable('notes').addColumn('author', 'text').execute(),
}

const kinds: {
  name: string
  needs: readonly 'postgres'[]
  start(): Promise<{ where: Omit<StateDatabase, 'tablePrefix'>; stop(): Promise<void> }>
}[] = [
  {
    name: 'PostgreSQL',
    needs: ['postgres'],
    start: async () => {
      const server: TestServer = await startPostgres({ private: true })
      return { where: { kind: 'postgres', url: server.url, token: undefined }, stop: () => server.stop() }
    },
  },
  {
    name: 'a SQLite file',
    needs: [],
    start: async () => {
      const directory = await mkdtemp(join(tmpdir(), 'watchhouse-migrate-'))
      const where = { kind: 'sqlite', url: `file:${join(directory, 'state.db')}`, token: undefined } as const
      return { where, stop: () => rm(directory, { recursive: true, force: true }) }
    },
  },
]

for (const kind of kinds) {
  describeWith(kind.needs, `migrating ${kind.name}`, () => {
    let started: Awaited<ReturnType<typeof kind.start>>
    let places = 0
    beforeAll(async () => {
      started = await kind.start()
    })
    afterAll(() => started.stop())

    const open = (tablePrefix: string): Promise<Database> => openDatabase({ ...started.where, tablePrefix })
    const fresh = (): Promise<Database> => open(`p${(places += 1)}_`)
    const notes = (database: Database): Kysely<NoteTables> => database.tables<NoteTables>(names)

    it('runs each step once, even with many concurrent processes', async () => {
      await using first = await fresh()
      const many = await Promise.all(Array.from({ length: 5 }, () => open(first.prefix)))
      let made = 0
      const counted: Migration = {
        ...create,
        up: async (tables) => {
          made += 1
          await create.up(tables)
        },
      }
      await Promise.all(many.map((database) => migrate(database, 'test', names, [counted])))
      expect(made).toBe(1)
      await Promise.all(many.map((database) => database[Symbol.asyncDispose]()))
    })

    it('waits for another process whose migration takes seconds', { tags: ['long'] }, async () => {
      await using first = await fresh()
      await using second = await open(first.prefix)
      const slow: Migration = {
        ...create,
        up: async (tables) => {
          await create.up(tables)
          await wait(3_000)
        },
      }
      await Promise.all([first, second].map((database) => migrate(database, 'test', names, [slow])))
      expect(await notes(second).selectFrom('notes').selectAll().execute()).toEqual([])
    })

    it('continues after the steps of an earlier release, and ignores those of a newer one', async () => {
      await using database = await fresh()
      await migrate(database, 'test', names, [create])
      await notes(database).insertInto('notes').values({ text: 'kept' }).execute()
      await migrate(database, 'test', names, [create, addAuthor])
      await migrate(database, 'test', names, [create])
      expect(await notes(database).selectFrom('notes').selectAll().execute()).toEqual([{ text: 'kept', author: null }])
    })

    it('rejects a release that lacks the step that a newer one needs, before any change', async () => {
      await using database = await fresh()
      const dropText: Migration = {
        name: 'no text',
        needs: 'authors',
        up: (tables) => tables.schema.alterTable('notes').dropColumn('text').execute(),
      }
      await migrate(database, 'test', names, [create, addAuthor, dropText])
      await migrate(database, 'test', names, [create, addAuthor])
      let made = 0
      const late: Migration = { name: 'late', up: async () => void (made += 1) }
      await expect(migrate(database, 'test', names, [create, late])).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('newer release and is not compatible with this one (migration "no text"'),
      })
      expect(made).toBe(0)
      await migrate(database, 'another', [], [late])
      expect(made).toBe(1)
    })

    it('changes nothing if a step fails', async () => {
      await using database = await fresh()
      const broken: Migration = { name: 'broken', up: async (tables) => void (await sql`no statement`.execute(tables)) }
      await expect(migrate(database, 'test', names, [create, broken])).rejects.toThrow(/syntax error/)
      await migrate(database, 'test', names, [create])
      expect(await notes(database).selectFrom('notes').selectAll().execute()).toEqual([])
    })

    if (kind.name === 'PostgreSQL')
      it('has a timeout of minutes for statements of steps, and of seconds for others', async () => {
        await using database = await fresh()
        const limit = async <T>(on: Kysely<T>) => (await sql`show statement_timeout`.execute(on)).rows
        const look: Migration = {
          name: 'look',
          up: async (tables) => expect(await limit(tables)).toEqual([{ statement_timeout: '10min' }]),
        }
        await migrate(database, 'test', names, [look])
        expect(await limit(notes(database))).toEqual([{ statement_timeout: '5s' }])
      })

    it('separates installations by prefix and owner', async () => {
      await using one = await fresh()
      await using two = await fresh()
      await migrate(one, 'test', names, [create, addAuthor])
      await migrate(two, 'test', names, [create, addAuthor])
      await migrate(one, 'another', [], [{ name: 'notes', up: async () => {} }])
      await notes(one).insertInto('notes').values({ text: 'one' }).execute()
      expect(await notes(two).selectFrom('notes').selectAll().execute()).toEqual([])
    })

    it('rolls back a whole transaction, while others read the previous state', async () => {
      await using database = await fresh()
      await migrate(database, 'test', names, [create, addAuthor])
      const tables = notes(database)
      const work = tables.transaction().execute(async (transaction) => {
        await transaction.insertInto('notes').values({ text: 'never' }).execute()
        expect(await transaction.selectFrom('notes').selectAll().execute()).toHaveLength(1)
        expect(await tables.selectFrom('notes').selectAll().execute()).toHaveLength(0)
        throw new Error('changed my mind')
      })
      await expect(work).rejects.toThrow('changed my mind')
      expect(await tables.selectFrom('notes').selectAll().execute()).toHaveLength(0)
    })

    it('runs many concurrent transactions without losing one', async () => {
      await using database = await fresh()
      await using other = await open(database.prefix)
      await migrate(database, 'test', names, [create, addAuthor])
      const add = (on: Database, text: string) =>
        notes(on)
          .transaction()
          .execute(async (transaction) => {
            await transaction.insertInto('notes').values({ text }).execute()
            await transaction.selectFrom('notes').select('text').where('text', '=', text).executeTakeFirstOrThrow()
          })
      await Promise.all(
        Array.from({ length: 40 }, (_, index) => add(index % 2 === 0 ? database : other, String(index))),
      )
      expect(await notes(other).selectFrom('notes').selectAll().execute()).toHaveLength(40)
    })
  })
}
