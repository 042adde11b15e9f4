import { beforeAll, expect, it } from 'vitest'
import { type ConversationStore, exportPageSize } from './store.ts'
import { createMessage, createEvidence, createToolMessage, createConversationWrite } from './testing/conversations.ts'

/** The name of the second owner starts with that of the first and contains the separators of external ids and tags. */
const [ada, eve] = ['user_ada', 'user_ada:eve/ö?']
const startedAtMs = 1_790_000_000_000

/** Declares the tests that every conversation store must pass. `open` returns an empty store. */
export const testConversationStore = (open: () => Promise<ConversationStore>): void => {
  let store: ConversationStore
  beforeAll(async () => {
    store = await open()
  })
  const idsOf = async (owner: string) => (await store.list(owner, { limit: 100 })).conversations.map(({ id }) => id)

  it('is empty at first', async () => {
    expect(await store.list(ada, { limit: 20 })).toEqual({ conversations: [], next: null })
    expect(await store.whole(ada, undefined)).toEqual({ conversations: [], next: null })
    expect(await store.get(ada, 'one')).toBeUndefined()
    expect(await store.remove(ada, 'one')).toBe(false)
    expect(await store.removeAll(ada)).toBe(0)
    expect(await store.prune(Date.now())).toBe(0)
  })

  it('returns a stored conversation, titled by its first words', async () => {
    const { messages, ...written } = createConversationWrite('one', { evidence: [createEvidence()] })
    const { created, conversation } = await store.put(ada, { ...written, messages })
    const summary = {
      id: 'one',
      title: 'First words',
      hostKey: 'logs',
      model: 'gateway_a:some/model',
      messageCount: 2,
      createdAtMs: startedAtMs,
      updatedAtMs: startedAtMs,
    }
    expect({ created, conversation }).toEqual({ created: true, conversation: summary })
    expect(await store.get(ada, 'one')).toEqual({ ...summary, messages, evidence: [createEvidence()] })
    expect(await store.list(ada, { limit: 20 })).toEqual({ conversations: [summary], next: null })
    expect((await store.whole(ada, undefined)).conversations).toEqual([await store.get(ada, 'one')])
  })

  it('appends messages and keeps creation time, title and evidence if none are supplied', async () => {
    const messages = [...createConversationWrite('one').messages, createMessage('m3'), createToolMessage('m4')]
    const later = createConversationWrite('one', {
      messages,
      firstWords: 'Others',
      hostKey: null,
      atMs: startedAtMs + 5,
    })
    expect((await store.put(ada, later)).created).toBe(false)
    expect(await store.get(ada, 'one')).toMatchObject({
      title: 'First words',
      hostKey: null,
      messages,
      messageCount: 4,
      evidence: [createEvidence()],
      createdAtMs: startedAtMs,
      updatedAtMs: startedAtMs + 5,
    })
  })

  it('replaces changed messages, title and evidence', async () => {
    const messages = [createMessage('m1'), createMessage('m2', 'assistant', 'regenerated')]
    const evidence = [createEvidence('e1'), createEvidence('e2')]
    await store.put(ada, createConversationWrite('one', { messages, evidence, title: 'Größer', atMs: startedAtMs + 6 }))
    const expected = { title: 'Größer', messages, evidence, createdAtMs: startedAtMs, updatedAtMs: startedAtMs + 6 }
    expect(await store.get(ada, 'one')).toMatchObject(expected)
    await store.put(ada, createConversationWrite('one', { messages, evidence: [], atMs: startedAtMs + 7 }))
    expect(await store.get(ada, 'one')).toMatchObject({ ...expected, evidence: [], updatedAtMs: startedAtMs + 7 })
  })

  it('replaces a title only if it is the expected one', async () => {
    await store.retitle(ada, 'one', 'First words', 'Too late')
    expect((await store.get(ada, 'one'))?.title).toBe('Größer')
    await store.retitle(ada, 'one', 'Größer', 'In time')
    await store.retitle(eve, 'one', 'In time', 'Not hers')
    await store.retitle(ada, 'none', 'In time', 'Of nothing')
    expect((await store.get(ada, 'one'))?.title).toBe('In time')
  })

  it('reads, changes and removes by id only conversations of the owner', async () => {
    const theirs = createConversationWrite('one', { messages: [createMessage('of eve')], atMs: startedAtMs + 8 })
    expect(await store.get(eve, 'one')).toBeUndefined()
    expect((await store.put(eve, theirs)).created).toBe(true)
    expect((await store.get(ada, 'one'))?.title).toBe('In time')
    expect((await store.get(eve, 'one'))?.messages).toEqual(theirs.messages)
    expect([await idsOf(ada), await idsOf(eve)]).toEqual([['one'], ['one']])
    expect(await store.remove(eve, 'one')).toBe(true)
    expect([await idsOf(ada), await idsOf(eve)]).toEqual([['one'], []])
  })

  it('lists each conversation once across pages, most recently changed first, with equal times too', async () => {
    const many = Array.from({ length: 2 * exportPageSize + 1 }, (_, index) =>
      createConversationWrite(`n${index}`, { atMs: startedAtMs + 100 + Math.floor(index / 3) }),
    )
    for (const each of many) await store.put(eve, each)
    for (const read of [
      async (cursor?: string) => store.list(eve, { limit: 4, cursor }),
      async (cursor?: string) => store.whole(eve, cursor),
    ]) {
      const found = []
      let cursor: string | undefined
      do {
        const page = await read(cursor)
        found.push(...page.conversations)
        cursor = page.next ?? undefined
      } while (cursor !== undefined)
      expect(found.map(({ id }) => id).toSorted()).toEqual(many.map(({ id }) => id).toSorted())
      const times = found.map(({ updatedAtMs }) => updatedAtMs)
      expect(times).toEqual(times.toSorted((one, other) => other - one))
    }
  })

  it('stores one conversation if two are created concurrently with the same id', async () => {
    const [one, other] = [
      createConversationWrite('raced', { title: 'one' }),
      createConversationWrite('raced', { title: 'other' }),
    ]
    await Promise.allSettled([store.put(ada, one), store.put(ada, other)])
    expect(['one', 'other']).toContain((await store.get(ada, 'raced'))?.title)
    expect((await idsOf(ada)).filter((id) => id === 'raced')).toHaveLength(1)
    expect(await store.remove(ada, 'raced')).toBe(true)
    expect(await store.get(ada, 'raced')).toBeUndefined()
  })

  it('prunes the conversations of all owners changed before a time, and returns their number', async () => {
    await store.put(ada, createConversationWrite('young', { atMs: startedAtMs + 1_000 }))
    expect(await store.prune(startedAtMs + 102)).toBe(1 + 6)
    expect(await idsOf(ada)).toEqual(['young'])
    expect((await idsOf(eve)).length).toBe(2 * exportPageSize + 1 - 6)
  })

  it('removes all conversations of one owner only', async () => {
    expect(await store.removeAll(eve)).toBe(2 * exportPageSize + 1 - 6)
    expect(await idsOf(eve)).toEqual([])
    expect(await idsOf(ada)).toEqual(['young'])
  })
}
