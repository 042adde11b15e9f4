import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { describeWith, startPostgres } from '../../../testing/describe-with.ts'
import { type Database, openDatabase } from '../sql/connection.ts'
import { type Collections, defineCollection, createMemoryCollections, openCollections } from './collection.ts'

const Note = z.object({ id: z.string(), owner: z.string().nullable(), atMs: z.int(), text: z.string() })
type Note = z.infer<typeof Note>

const noteColumns = { owner: 'text', atMs: 'integer', lowerText: 'text' } as const
const shared = {
  columns: noteColumns,
  schema: Note,
  idOf: ({ id }: Note) => id,
  valuesOf: ({ owner, atMs, text }: Note) => ({ owner, atMs, lowerText: text.toLowerCase() }),
}
const notes = defineCollection({
  ...shared,
  name: 'watchhouse_notes',
  indexes: [['owner', 'atMs'], ['atMs']],
  summary: { schema: z.object({ id: z.string() }), of: ({ id }: Note) => ({ id }) },
})
/** A collection whose writes may arrive late: the highest time wins, and an owner stays set. */
const late = defineCollection({
  ...shared,
  name: 'watchhouse_late_notes',
  supersedes: { grows: 'atMs', final: 'owner' },
  unreadable: (id: string) => note(id, { text: 'unreadable' }),
})

const note = (id: string, more: Partial<Note> = {}): Note => ({ id, owner: 'ada', atMs: 1_000, text: 'Text', ...more })

type Open = (prefix: string) => Promise<Collections>
const implementations: Record<string, (opened: AsyncDisposableStack) => Promise<Open>> = {
  memory: async () => async () => createMemoryCollections(),
  libSQL: async (opened) => {
    const directory = await mkdtemp(join(tmpdir(), 'watchhouse-collections-'))
    opened.defer(() => rm(directory, { recursive: true }))
    return (prefix) => inDatabase(opened, 'sqlite', `file:${join(directory, 'state.db')}`, prefix)
  },
  PostgreSQL: async (opened) => {
    const { url } = opened.use(await startPostgres())
    return (prefix) => inDatabase(opened, 'postgres', url, prefix)
  },
}
const needs: Record<string, readonly 'postgres'[]> = { PostgreSQL: ['postgres'] }

const databases = new WeakMap<Collections, Database>()
const inDatabase = async (opened: AsyncDisposableStack, kind: 'postgres' | 'sqlite', url: string, prefix: string) => {
  const database = opened.use(await openDatabase({ kind, url, token: undefined, tablePrefix: prefix }))
  const collections = await openCollections('notes', [notes, late], database)
  databases.set(collections, database)
  return collections
}

describe.each(Object.keys(implementations))('collections', (name) => {
  describeWith(needs[name] ?? [], `in ${name}`, () => suite(name))
})

function suite(name: string): void {
  const opened = new AsyncDisposableStack()
  let openWith: Open
  let places = 0
  beforeAll(async () => {
    const prepare = implementations[name]
    if (!prepare) throw new Error(`no implementation ${name}`)
    openWith = await prepare(opened)
  })
  afterAll(() => opened.disposeAsync())
  const open = () => openWith(`p${(places += 1)}_`)
  const filled = async (...documents: Note[]) => {
    const collection = (await open()).of(notes)
    await collection.put(documents)
    return collection
  }

  it('return the kind of their database', async () => {
    expect((await open()).kind).toBe({ memory: 'memory', libSQL: 'sqlite', PostgreSQL: 'postgres' }[name])
  })

  it('return documents as they were last written', async () => {
    const odd = note('b', { owner: null, text: `it's "ключ" 😀 \u0000 end` })
    const collection = await filled(note('a'), odd)
    expect(await collection.get('b')).toEqual(odd)
    expect(await collection.get('c')).toBeUndefined()
    await collection.put([note('a', { text: 'first' }), note('a', { text: 'last' })])
    expect(await collection.list()).toEqual([note('a', { text: 'last' }), odd])
    expect(await collection.summaries()).toEqual([{ id: 'a' }, { id: 'b' }])
    expect(await collection.ids()).toEqual(['a', 'b'])
  })

  it('are copies that cannot be changed from outside', async () => {
    const written = note('a')
    const collection = await filled(written)
    written.text = 'changed'
    const read = await collection.get('a')
    if (read) read.text = 'changed'
    expect(await collection.get('a')).toEqual(note('a'))
  })

  it('add each id once, with many concurrent writers', async () => {
    const collection = await filled(note('a'))
    expect(await collection.add([note('a', { text: 'again' }), note('b')])).toBe(1)
    const added = await Promise.all([1, 2, 3].map((atMs) => collection.add([note('c', { atMs })])))
    expect(added.toSorted()).toEqual([0, 0, 1])
    expect(await collection.get('a')).toEqual(note('a'))
    await collection.put([])
    expect(await collection.add([])).toBe(0)
  })

  const five = [
    note('a', { atMs: 1_790_000_000_000, text: '100%_ of ÄÖ' }),
    note('b', { owner: 'eve', atMs: 2_000 }),
    note('c', { owner: null, atMs: 2_000 }),
    note('d', { atMs: 2_000, text: `it's` }),
    note('e', { owner: 'A', atMs: 1_000 }),
  ]

  it.each([
    [{ owner: 'ada' }, ['a', 'd']],
    [{ owner: 'unknown' }, []],
    [{ owner: undefined, atMs: 2_000 }, ['b', 'c', 'd']],
    [{ owner: null }, ['c']],
    [{ owner: { isSet: true as const } }, ['a', 'b', 'd', 'e']],
    [{ owner: ['eve', 'A'] }, ['b', 'e']],
    [{ owner: ['eve', null] }, ['b', 'c']],
    [{ owner: [] }, []],
    [{ id: ['a', 'e', 'none'] }, ['a', 'e']],
    [{ atMs: { from: 2_000 } }, ['a', 'b', 'c', 'd']],
    [{ atMs: { from: 1_001, before: 2_001 } }, ['b', 'c', 'd']],
    [{ atMs: { before: 2_000, from: undefined } }, ['e']],
    [{ owner: { before: 'b' } }, ['a', 'd', 'e']],
    [{ lowerText: { contains: '0%_ o' } }, ['a']],
    [{ lowerText: { contains: 't_xt' } }, []],
    [{ lowerText: { contains: "t's" } }, ['d']],
    [{ lowerText: { contains: 'äö' } }, ['a']],
    [{ lowerText: { contains: undefined } }, ['a', 'b', 'c', 'd', 'e']],
    [{ owner: 'ada', atMs: 2_000, lowerText: { contains: 's' } }, ['d']],
  ])('find, count and remove by %j', async (where, ids) => {
    const collection = await filled(...five)
    expect(await collection.ids({ where })).toEqual(ids)
    expect(await collection.count(where)).toBe(ids.length)
    expect(await collection.remove(where)).toBe(ids.length)
    expect(await collection.count()).toBe(5 - ids.length)
  })

  it('are listed in order and in pages, with equal values ordered by id', async () => {
    const collection = await filled(...five.toReversed())
    const newest = { orderBy: 'atMs', descending: true } as const
    expect(await collection.ids(newest)).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(await collection.ids({ orderBy: 'atMs' })).toEqual(['e', 'b', 'c', 'd', 'a'])
    expect(await collection.ids({ ...newest, limit: 2 })).toEqual(['a', 'b'])
    expect(await collection.ids({ ...newest, limit: 0 })).toEqual([])
    expect(await collection.ids({ ...newest, limit: 2, after: { value: 2_000, id: 'b' } })).toEqual(['c', 'd'])
    expect(await collection.ids({ orderBy: 'atMs', after: { value: 2_000, id: 'c' } })).toEqual(['d', 'a'])
    const page = await collection.page({ ...newest, limit: 3 })
    expect(page).toMatchObject({ documents: [{ id: 'a' }, { id: 'b' }, { id: 'c' }], next: { value: 2_000, id: 'c' } })
    const rest = await collection.summaryPage({ ...newest, limit: 3, after: page.next })
    expect(rest).toEqual({ documents: [{ id: 'd' }, { id: 'e' }], next: undefined })
    expect((await collection.page({ limit: 5 })).next).toBeUndefined()
    expect((await collection.page({ limit: 4 })).next).toMatchObject({ value: 'd', id: 'd' })
    await collection.put([note('B'), note('ä')])
    expect(await collection.ids()).toEqual(['B', 'a', 'b', 'c', 'd', 'e', 'ä'])
  })

  it('write and remove more rows than one statement can', async () => {
    const many = Array.from({ length: 2_101 }, (_, index) => note(`n${index}`))
    const collection = await filled(...many, note('n0', { text: 'again' }))
    expect(await collection.count()).toBe(2_101)
    expect((await collection.get('n0'))?.text).toBe('again')
    expect(await collection.remove({ owner: 'ada' })).toBe(2_101)
  })

  it('change a document by its current value, also with concurrent writers', async () => {
    const collection = await filled(note('a', { text: '' }))
    const append = (letter: string) =>
      collection.change('a', (present) => present && { ...present, text: present.text + letter })
    await Promise.all(['a', 'b', 'c', 'd'].map(append))
    expect([...((await collection.get('a'))?.text ?? '')].toSorted()).toEqual(['a', 'b', 'c', 'd'])
    expect(await collection.change('b', () => undefined)).toEqual({})
    expect(await collection.change('b', (present) => present ?? note('b'))).toEqual({ after: note('b') })
    const other = note('b', { owner: 'eve' })
    expect(await collection.change('b', () => other)).toEqual({ before: note('b'), after: other })
    expect(await collection.ids({ where: { owner: 'eve' } })).toEqual(['b'])
  })

  it('ignore a late write if the declaration requires it', async () => {
    const collection = (await open()).of(late)
    await collection.put([note('a', { owner: null, atMs: 3 }), note('b', { atMs: 3 })])
    await collection.put([note('a', { owner: null, atMs: 2, text: 'late' }), note('b', { owner: null, atMs: 4 })])
    expect(await collection.list()).toEqual([note('a', { owner: null, atMs: 3 }), note('b', { atMs: 3 })])
    await collection.put([note('a', { atMs: 3 }), note('b', { owner: 'eve', atMs: 4 })])
    expect(await collection.list()).toEqual([note('a', { atMs: 3 }), note('b', { owner: 'eve', atMs: 4 })])
  })

  it('run steps with the same lock name one at a time', async () => {
    const collections = await open()
    const add = (id: string) =>
      collections.atomically(async (within) => {
        const collection = within.of(notes)
        if ((await collection.count()) < 3) await collection.put([note(id)])
      }, 'notes')
    await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(add))
    expect(await collections.of(notes).count()).toBe(3)
    await expect(collections.atomically(() => Promise.reject(new Error('failed')), 'notes')).rejects.toThrow('failed')
    expect(await collections.atomically(async () => 'goes on', 'notes')).toBe('goes on')
  })

  if (name === 'memory') return

  it('apply a step completely or not at all', async () => {
    const collections = await open()
    const failing = collections.atomically(async (within) => {
      await within.of(notes).put([note('a')])
      await within.of(late).put([note('a')])
      throw new Error('failed')
    })
    await expect(failing).rejects.toThrow('failed')
    expect([await collections.of(notes).count(), await collections.of(late).count()]).toEqual([0, 0])
  })

  it('skip unreadable documents or show a placeholder, and can replace them', async () => {
    const collections = await open()
    const database = databases.get(collections)
    for (const spec of [notes, late]) {
      await collections.of(spec).put([note('a'), note('b')])
      const tables = database?.tables<Record<string, { id: string; document: string }>>([spec.name])
      await tables?.updateTable(spec.name).set({ document: '{ "damaged' }).where('id', '=', 'a').execute()
    }
    expect(await collections.of(late).list()).toHaveLength(2)
    expect(database?.problem).toBeUndefined()
    expect(await collections.of(notes).list()).toEqual([note('b')])
    expect(database?.problem).toBe(`1 unreadable documents of ${notes.name} omitted: a`)
    expect(await collections.of(notes).get('a')).toBeUndefined()
    expect(await collections.of(notes).page({ limit: 1 })).toMatchObject({ documents: [], next: { id: 'a' } })
    expect(await collections.of(late).list()).toEqual([note('a', { text: 'unreadable' }), note('b')])
    expect(await collections.of(notes).change('a', (present) => present ?? note('a'))).toEqual({ after: note('a') })
  })

  it('are unchanged after they are reopened', async () => {
    const prefix = `p${(places += 1)}_`
    await (await openWith(prefix)).of(notes).put([note('a')])
    expect(await (await openWith(prefix)).of(notes).list()).toEqual([note('a')])
  })
}

describe('a collection in memory', () => {
  const holding = (memory: (typeof notes)['memory']) => createMemoryCollections().of({ ...notes, memory })

  it('has a maximum number of documents, and drops the oldest first', async () => {
    const collection = holding({ maxDocuments: 3 })
    await collection.put(['a', 'b', 'c'].map((id) => note(id)))
    await collection.change('a', (present) => present)
    await collection.put([note('d')])
    expect(await collection.ids()).toEqual(['a', 'c', 'd'])
    await collection.remove({ id: 'c' })
    await collection.put([note('e'), note('f')])
    expect(await collection.ids()).toEqual(['d', 'e', 'f'])
    await collection.remove({})
    await collection.put(['g', 'h', 'i', 'j'].map((id) => note(id)))
    expect(await collection.ids()).toEqual(['h', 'i', 'j'])
  })

  it('has a maximum size, except for a single larger document', async () => {
    const collection = holding({ maxCharacters: 500 })
    const long = 'x'.repeat(150)
    await collection.put(['a', 'b', 'c'].map((id) => note(id, { text: long })))
    expect(await collection.ids()).toEqual(['b', 'c'])
    await collection.put([note('d', { text: long.repeat(9) })])
    expect(await collection.ids()).toEqual(['d'])
    await collection.put([note('e')])
    expect(await collection.ids()).toEqual(['e'])
  })
})
