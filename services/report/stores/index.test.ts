import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@libsql/client'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { query } from '#proto/query.ts'
import { systemClock } from '#shared/time/clock.ts'
import { openBus, openMemoryHub } from '#shared/bus/open.ts'
import { type ConvstoreServer, convstoreKey, startConvstore } from '#shared/convstore/testing/convstore-server.ts'
import { openNet } from '#shared/net/net.ts'
import { Registry } from 'prom-client'
import { noopTracers } from '#shared/telemetry/tracing.ts'
import { describeWith, startPostgres } from '../../testing/describe-with.ts'
import { openInsightStore } from './index.ts'
import { createUserCall, createInsight } from '../testing/insights.ts'
import { testInsightStore } from './stores.suite.ts'

const opened = new AsyncDisposableStack()
let directory: string
const lines: string[] = []
const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchhouse-insights-'))
  opened.defer(() => rm(directory, { recursive: true }))
})
afterAll(() => opened.disposeAsync())

const openWith = async (env: Record<string, string>) => {
  const telemetry = { log, metrics: new Registry(), tracer: noopTracers.tracer('report') }
  const bus = opened.use(
    await openBus({
      hub: openMemoryHub(),
      caller: 'report',
      instance: 'r',
      version: '1',
      telemetry,
      clock: systemClock,
    }),
  )
  const net = opened.use(openNet({ env }))
  return opened.use(await openInsightStore({ env, query: bus.client(query), net, log }))
}

describe('insights in memory', () => {
  testInsightStore(async () => (await openWith({ INSIGHTS_STORE_BACKEND: 'memory' })).store)
})

describe('insights in SQLite', () => {
  const url = () => `file:${join(directory, 'insights.db')}`
  testInsightStore(async () => (await openWith({ INSIGHTS_STORE_BACKEND: 'edgesql', INSIGHTS_EDGESQL: url() })).store)

  it('are rows of the table insights_findings', async () => {
    const beside = { CONVERSATIONS_EDGESQL: `file:${join(directory, 'conversations.db')}` }
    const { store } = await openWith({ INSIGHTS_STORE_BACKEND: 'edgesql', INSIGHTS_EDGESQL: url(), ...beside })
    const insight = createInsight('t', { hostKey: 'table' })
    await store.put('table', [insight], 1, createUserCall())
    const client = createClient({ url: url() })
    const { rows } = await client.execute("SELECT id FROM insights_findings WHERE host_key = 'table'")
    client.close()
    expect(rows.map(({ id }) => id)).toEqual([insight.id])
  })

  it.each(['https://evil.example', '//evil.example', '/\\evil.example', 'javascript:alert(1)'])(
    'drop the external link %s',
    async (link) => {
      const { store } = await openWith({ INSIGHTS_STORE_BACKEND: 'edgesql', INSIGHTS_EDGESQL: url() })
      const insight = createInsight('e', { hostKey: 'linked' })
      await store.put('linked', [{ ...insight, link }], 1, createUserCall())
      const filter = { hostKey: 'linked', sinceMs: 0, limit: 9 }
      expect(await store.list(filter, createUserCall())).toEqual([{ ...insight, link: '' }])
    },
  )

  it('use the conversation database if INSIGHTS_EDGESQL is not set', async () => {
    const { store, reason } = await openWith({ INSIGHTS_STORE_BACKEND: 'edgesql', CONVERSATIONS_EDGESQL: url() })
    expect([store.backend, reason]).toEqual(['edgesql', null])
  })
})

describeWith(['postgres'], 'insights in PostgreSQL', () => {
  testInsightStore(async () => {
    const { url } = opened.use(await startPostgres())
    return (await openWith({ INSIGHTS_STORE_BACKEND: 'postgres', DATABASE_URL: url })).store
  })
})

describe('insights in the conversation service', () => {
  let server: ConvstoreServer
  const open = async () => {
    const env = { CONVSTORE_API_KEY: convstoreKey, CONVSTORE_BASE_URL: server.url }
    return (await openWith({ INSIGHTS_STORE_BACKEND: 'convstore', ...env })).store
  }
  beforeAll(async () => {
    server = opened.use(await startConvstore())
  })
  testInsightStore(open)

  it('form one readable thread per host and day', async () => {
    const store = await open()
    await store.put('O’Box', [createInsight('d', { hostKey: 'O’Box' })], 1, createUserCall())
    const thread = [...server.threads.values()].find(({ title }) => title === 'Insights of O’Box on 2026-05-28')
    expect(thread?.messages).toMatchObject([{ role: 'assistant', content: 'Disk fills' }])
    expect(await store.list({ hostKey: 'box', sinceMs: 0, limit: 9, ids: ['d'.repeat(32)] }, createUserCall())).toEqual(
      [],
    )
  })

  it('drop an external link', async () => {
    const store = await open()
    const insight = createInsight('f', { hostKey: 'linked' })
    await store.put('linked', [{ ...insight, link: '/\\evil.example' }], 1, createUserCall())
    expect(await store.list({ hostKey: 'linked', sinceMs: 0, limit: 9 }, createUserCall())).toEqual([
      { ...insight, link: '' },
    ])
  })

  it('leave threads of other applications alone', async () => {
    const store = await open()
    const times = { created_at: 1, updated_at: 1 }
    const foreign = { id: 'foreign', external_id: 'x', title: null, metadata: { app: 'other' }, ...times }
    server.threads.set('foreign', { ...foreign, messages: [], tags: ['watchhouse-insights'] })
    await store.prune(Date.now(), createUserCall())
    expect([...server.threads.keys()]).toEqual(['foreign'])
  })

  it('remove a thread that cannot be tagged', async () => {
    server.threads.clear()
    server.failing.set('POST /api/v1/conversations/t', { status: 500 })
    const store = await open()
    await expect(store.put('box', [createInsight('a')], 1, createUserCall())).rejects.toMatchObject({
      code: 'unavailable',
    })
    expect(server.threads.size).toBe(0)
    server.failing.clear()
  })

  it('use only documented requests', () => {
    expect(server.misuses).toEqual([])
  })
})

describe('selecting an insight store', () => {
  it.each<Record<string, string>>([{}, { INSIGHTS_STORE_BACKEND: 'auto' }, { INSIGHTS_STORE_BACKEND: 'clickhouse' }])(
    '%j selects the tables of the hosts, even if another store is configured',
    async (chosen) => {
      const { store, reason } = await openWith({ ...chosen, INSIGHTS_EDGESQL: 'file:/nowhere' })
      expect([store.backend, reason]).toEqual(['clickhouse', null])
    },
  )

  it.each<[string, Record<string, string>]>([
    ['memory', {}],
    ['edgesql', { INSIGHTS_EDGESQL: 'file::memory:' }],
    ['convstore', { CONVSTORE_API_KEY: convstoreKey }],
  ])('%s selects the named backend if it is configured', async (chosen, needed) => {
    const { store, reason } = await openWith({ INSIGHTS_STORE_BACKEND: chosen, ...needed })
    expect([store.backend, reason]).toEqual([chosen, null])
  })

  it.each(['edgesql', 'postgres', 'convstore'])(
    '%s falls back to the tables of the hosts with a warning if it is not configured',
    async (chosen) => {
      lines.length = 0
      const { store, reason } = await openWith({ INSIGHTS_STORE_BACKEND: chosen })
      expect(store.backend).toBe('clickhouse')
      expect(reason).not.toBeNull()
      expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: 40, chosen, reason }])
    },
  )
})
