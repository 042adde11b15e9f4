import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AuditRecord } from '#proto/audit.ts'
import { openDatabase } from '#shared/store/sql/connection.ts'
import { describeWith, startPostgres } from '../../testing/describe-with.ts'
import { openAuditStore, type AuditStore } from './store.ts'

const record = (id: string, atMs: number, more: Partial<AuditRecord> = {}): AuditRecord => ({
  id,
  atMs,
  actor: { kind: 'user', subject: 'ada' },
  action: 'killQuery',
  host: 'db',
  target: { queryId: `it's "${id}"` },
  result: 'started',
  detail: null,
  tookMs: null,
  requestId: null,
  ...more,
})

const inDatabase = async (opened: AsyncDisposableStack, kind: 'postgres' | 'sqlite', url: string) =>
  openAuditStore(opened.use(await openDatabase({ kind, url, token: undefined, tablePrefix: 'a_' })))

const implementations: Record<string, (opened: AsyncDisposableStack) => Promise<AuditStore>> = {
  memory: async () => openAuditStore(undefined),
  libSQL: async (opened) => {
    const directory = await mkdtemp(join(tmpdir(), 'watchhouse-audit-'))
    opened.defer(() => rm(directory, { recursive: true }))
    return inDatabase(opened, 'sqlite', `file:${join(directory, 'state.db')}`)
  },
  PostgreSQL: async (opened) => inDatabase(opened, 'postgres', opened.use(await startPostgres()).url),
}

const needs: Record<string, readonly 'postgres'[]> = { PostgreSQL: ['postgres'] }

describe.each(Object.keys(implementations))('the audit', (name) => {
  describeWith(needs[name] ?? [], `in ${name}`, () => suite(name))
})

function suite(name: string): void {
  const opened = new AsyncDisposableStack()
  let store: AuditStore
  beforeAll(async () => {
    const open = implementations[name]
    if (!open) throw new Error(`no implementation ${name}`)
    store = await open(opened)
    await store.put(record('one', 1_000))
    await store.put(record('two', 2_000, { action: 'create_user', host: null }))
    await store.put(record('three', 1_790_000_000_000, { actor: { kind: 'key', subject: 'key:deploy' } }))
    await store.put(record('one', 1_000, { result: 'done', tookMs: 12.5, detail: 'ended' }))
  })
  afterAll(() => opened.disposeAsync())

  it('updates a record and lists the newest first', async () => {
    const all = await store.list({ limit: 10 })
    expect(all.map(({ id }) => id)).toEqual(['three', 'two', 'one'])
    expect(all[2]).toEqual(record('one', 1_000, { result: 'done', tookMs: 12.5, detail: 'ended' }))
  })

  it.each([
    [{ action: 'create_user' }, ['two']],
    [{ subject: 'key:deploy' }, ['three']],
    [{ host: 'db' }, ['three', 'one']],
    [{ beforeMs: 2_000 }, ['one']],
    [{ limit: 1 }, ['three']],
  ])('filters by %j', async (filter, ids) => {
    expect((await store.list({ limit: 10, ...filter })).map(({ id }) => id)).toEqual(ids)
  })

  it('leaves out personal records of other people', async () => {
    const eve = { kind: 'user', subject: 'eve' } as const
    const put = (id: string, more: Partial<AuditRecord>) =>
      store.put(record(id, 500, { actor: eve, host: null, ...more }))
    await put('saved', { action: 'keep-connection', target: { address: 'secret.example.com' } })
    await put('subscribed', { action: 'subscribe-webhook', actor: { kind: 'key', subject: 'eve' } })
    await put('own-host', { host: 'mine (user-supplied)' })
    await put('shared', { host: 'db' })
    await put('operator', { action: 'issue-api-key', actor: { kind: 'service', subject: 'operator' } })
    const seenBy = async (reader: string | undefined) =>
      (await store.list({ limit: 10, beforeMs: 501, reader })).map(({ id }) => id).toSorted()
    expect(await seenBy('eve')).toEqual(['operator', 'own-host', 'saved', 'shared', 'subscribed'])
    expect(await seenBy('ada')).toEqual(['operator', 'shared'])
    expect(await seenBy(undefined)).toEqual(['operator', 'own-host', 'saved', 'shared', 'subscribed'])
    expect(await store.prune(501)).toBe(5)
  })

  it('stores a record that contains NUL characters', async () => {
    const quoting = record('four', 1_500, { action: 'drop_role', target: { role: 'a\0b' } })
    await store.put(quoting)
    await store.put({ ...quoting, result: 'refused', detail: 'no role a\0b on host db' })
    expect(await store.list({ limit: 1, action: 'drop_role' })).toMatchObject([
      {
        result: 'refused',
        target: { role: 'a\0b' },
        detail: expect.stringMatching(/^no role a[\0\ufffd]b on host db$/),
      },
    ])
    expect(await store.list({ limit: 1, subject: '\0' })).toEqual([])
  })

  it('prunes old records', async () => {
    expect(await store.prune(2_000)).toBe(2)
    expect((await store.list({ limit: 10 })).map(({ id }) => id)).toEqual(['three', 'two'])
  })
}
