import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { toEdgeDatabase } from '#shared/store/edge-binding.ts'
import { openNet } from '#shared/net/net.ts'
import { describeWith, startPostgres } from '../../testing/describe-with.ts'
import { openThreadClient } from '#shared/convstore/client.ts'
import { createConvstoreConversationStore } from './convstore/store.ts'
import { createMemoryConversationStore, openSqlConversationStore } from './collection-stores.ts'
import type { ConversationStore } from './store.ts'
import { testConversationStore } from './store-contract.suite.ts'
import { createMessage, createConversationWrite } from './testing/conversations.ts'
import { type ConvstoreServer, convstoreKey, startConvstore } from '#shared/convstore/testing/convstore-server.ts'

const opened = new AsyncDisposableStack()
let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchhouse-conversations-'))
  opened.defer(() => rm(directory, { recursive: true }))
})
afterAll(() => opened.disposeAsync())

const max = 3

/** Tests the limit per owner, which the built-in stores enforce. */
const testConversationLimit = (open: () => Promise<ConversationStore>): void => {
  it('rejects conversations above the limit of one owner, and accepts those of another', async () => {
    const store = await open()
    for (let index = 0; index < max; index += 1) await store.put('full', createConversationWrite(`c${index}`))
    await expect(store.put('full', createConversationWrite('more'))).rejects.toMatchObject({ code: 'conflict' })
    expect((await store.put('full', createConversationWrite('c0', { title: 'still changed' }))).created).toBe(false)
    expect((await store.put('empty', createConversationWrite('more'))).created).toBe(true)
  })
}

describe('conversations in memory', () => {
  testConversationStore(async () => createMemoryConversationStore())
  testConversationLimit(async () => createMemoryConversationStore(max))

  it('evict the least recently changed', async () => {
    const store = createMemoryConversationStore(undefined, 1_500)
    for (const id of ['a', 'b', 'c'])
      await store.put('ada', createConversationWrite(id, { messages: [createMessage(id)] }))
    const long = createConversationWrite('d', { messages: [createMessage('d', 'user', 'x'.repeat(1_000))] })
    await store.put('ada', long)
    expect(await store.get('ada', 'a')).toBeUndefined()
    expect(await store.get('ada', 'd')).toMatchObject({ id: 'd' })
  })

  it('are copies, unaffected by later changes of the input or output', async () => {
    const store = createMemoryConversationStore()
    const written = createConversationWrite('one')
    await store.put('ada', written)
    written.messages.length = 0
    const read = await store.get('ada', 'one')
    read?.messages.pop()
    expect((await store.get('ada', 'one'))?.messages).toHaveLength(2)
  })
})

describe('conversations in SQLite', () => {
  const open = (name: string, bound?: number) => async () =>
    opened.use(await openSqlConversationStore(toEdgeDatabase(`file:${join(directory, name)}`), bound))
  testConversationStore(open('suite.db'))
  testConversationLimit(open('full.db', max))
})

describeWith(['postgres'], 'conversations in PostgreSQL', () => {
  let url: string
  beforeAll(async () => {
    url = opened.use(await startPostgres()).url
  })
  const open = (tablePrefix: string, bound?: number) => async () =>
    opened.use(await openSqlConversationStore({ kind: 'postgres', url, token: undefined, tablePrefix }, bound))
  testConversationStore(open('suite_'))
  testConversationLimit(open('full_', max))
})

const openConvstoreAt = async ({ url }: ConvstoreServer, more: Record<string, string> = {}) => {
  const env = { CONVSTORE_API_KEY: convstoreKey, CONVSTORE_BASE_URL: `${url}/`, ...more }
  const net = opened.use(openNet({ env }))
  return createConvstoreConversationStore(openThreadClient({ env, net, log: pino({ level: 'silent' }) }))
}

describe('conversations in a conversation service that rejects colons in tags', () => {
  const openEmpty = async () => openConvstoreAt(opened.use(await startConvstore(/^[a-z\d-]+$/)))
  testConversationStore(openEmpty)

  it('are rejected and leave no thread behind if the service rejects all tags', async () => {
    const server = opened.use(await startConvstore(/^$/))
    const store = await openConvstoreAt(server)
    await expect(store.put('user_bob', createConversationWrite('untagged'))).rejects.toMatchObject({
      code: 'unavailable',
    })
    expect(server.threads.size).toBe(0)
  })
})

describe('conversations in the conversation service', () => {
  let server: ConvstoreServer
  beforeAll(async () => {
    server = opened.use(await startConvstore())
  })
  afterEach(() => server.failing.clear())
  const open = async (more: Record<string, string> = {}) => openConvstoreAt(server, more)
  testConversationStore(open)

  const threadOf = (external: string) => [...server.threads.values()].find((each) => each.external_id === external)

  it('are threads that name their owner and contain plain text', async () => {
    const store = await open()
    await store.put('user_bob', createConversationWrite('stored'))
    expect(threadOf('user_bob:stored')).toMatchObject({
      title: 'First words',
      tags: ['user:user_bob'],
      messages: [
        { role: 'user', content: expect.stringContaining('größe 🐘') },
        { role: 'assistant', content: '(no text)' },
      ],
    })
  })

  it('grow by appended messages', async () => {
    const store = await open()
    const before = threadOf('user_bob:stored')?.id
    server.received.length = 0
    await store.put(
      'user_bob',
      createConversationWrite('stored', {
        messages: [...createConversationWrite('stored').messages, createMessage('m3')],
      }),
    )
    expect(threadOf('user_bob:stored')?.id).toBe(before)
    expect(server.received.map((line) => line.split(' ')[0])).toEqual(['GET', 'POST', 'PUT'])
  })

  it('are deleted if tagging them fails', async () => {
    const store = await open()
    server.failing.set('POST /api/v1/conversations/t', { status: 500 })
    await expect(store.put('user_bob', createConversationWrite('untagged'))).rejects.toMatchObject({
      code: 'unavailable',
    })
    expect(threadOf('user_bob:untagged')).toBeUndefined()
  })

  it('of other products in the same project are neither listed nor removed, even with the same tag', async () => {
    const store = await open()
    const times = { created_at: 1, updated_at: 1 }
    const foreign = { id: 'foreign', external_id: 'user_eve:stored', metadata: { app: 'other' }, ...times }
    server.threads.set('foreign', { ...foreign, title: null, messages: [], tags: ['user:user_bob'] })
    expect((await store.list('user_bob', { limit: 20 })).conversations.map(({ id }) => id)).toEqual(['stored'])
    expect(await store.prune(0)).toBe(0)
    expect(await store.removeAll('user_bob')).toBe(1)
    expect(server.threads.has('foreign')).toBe(true)
  })

  it.each([
    [{ status: 401 }, 'unavailable', /CONVSTORE_API_KEY/],
    [{ status: 500, body: 'stack of secrets' }, 'unavailable', /unexpected status 500/],
    [{ status: 429, headers: { 'retry-after': '7' } }, 'busy', /rate limiting requests/],
    [{ status: 302, headers: { location: 'http://elsewhere' } }, 'unavailable', /unreachable/],
    [{ status: 200, body: '<html>' }, 'unavailable', /unexpected response/],
    [{ status: 200, body: '{"id":1}' }, 'unavailable', /unexpected response/],
  ])('fail without quoting the service when it responds with %j', async (answer, code, sentence) => {
    server.failing.set('', answer)
    const store = await open()
    const failure = store.get('user_bob', 'stored')
    await expect(failure).rejects.toMatchObject({ code, message: expect.stringMatching(sentence) })
    await expect(failure).rejects.not.toThrow('secrets')
  })

  it('get a short tag if the name of the owner is long', async () => {
    const store = await open()
    const owner = `user_${'x'.repeat(80)}`
    await store.put(owner, createConversationWrite('long'))
    expect(threadOf(`${owner}:long`)?.tags).toEqual([expect.stringMatching(/^user-[0-9a-f]{32}$/)])
    expect((await store.list(owner, { limit: 20 })).conversations.map(({ id }) => id)).toEqual(['long'])
  })

  it('wait for the retry delay of the service, at most one minute', async () => {
    const store = await open()
    for (const [retryAfter, retryAfterMs] of [
      ['7', 7_000],
      ['9999', 60_000],
      ['soon', 60_000],
    ] as const) {
      server.failing.set('', { status: 429, headers: { 'retry-after': retryAfter } })
      await expect(store.list('user_bob', { limit: 1 })).rejects.toMatchObject({ retryAfterMs })
    }
  })

  it('fail if the service is unreachable or rejects the key', async () => {
    const unreachable = await open({ CONVSTORE_BASE_URL: 'http://127.0.0.1:9' })
    await expect(unreachable.get('user_bob', 'stored')).rejects.toMatchObject({ code: 'unavailable' })
    const other = await open({ CONVSTORE_API_KEY: 'as_live_other' })
    await expect(other.get('user_bob', 'stored')).rejects.toMatchObject({
      message: expect.stringContaining('rejects the key'),
    })
  })

  it('send only documented requests', () => {
    expect(server.misuses).toEqual([])
    expect(server.received.length).toBeGreaterThan(0)
  })
})
