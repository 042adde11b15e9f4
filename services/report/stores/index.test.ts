import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { query } from '#proto/query.ts'
import { systemClock } from '#shared/clock.ts'
import { openBus, openMemoryHub } from '#shared/bus/open.ts'
import { Registry } from 'prom-client'
import { untraced } from '#shared/telemetry/tracing.ts'
import { describeWith, startPostgres } from '../../acceptance/servers.ts'
import { openInsightStore } from './index.ts'
import { insightStoreSuite } from './stores.suite.ts'

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
  const telemetry = { log, metrics: new Registry(), tracer: untraced.tracer('report') }
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
  return opened.use(await openInsightStore({ env, query: bus.client(query), log }))
}

describe('insights in memory', () => {
  insightStoreSuite(async () => (await openWith({ INSIGHTS_STORE_BACKEND: 'memory' })).store)
})

describe('insights in SQLite', () => {
  const url = () => `file:${join(directory, 'insights.db')}`
  insightStoreSuite(async () => (await openWith({ INSIGHTS_STORE_BACKEND: 'edgesql', INSIGHTS_EDGESQL: url() })).store)

  it('are where conversations are when no database of their own is named', async () => {
    const { store, reason } = await openWith({ INSIGHTS_STORE_BACKEND: 'edgesql', CONVERSATIONS_EDGESQL: url() })
    expect([store.backend, reason]).toEqual(['edgesql', null])
  })
})

describeWith(['postgres'], 'insights in PostgreSQL', () => {
  insightStoreSuite(async () => {
    const { url } = opened.use(await startPostgres())
    return (await openWith({ INSIGHTS_STORE_BACKEND: 'postgres', DATABASE_URL: url })).store
  })
})

describe('the choice of a store', () => {
  it.each<Record<string, string>>([{}, { INSIGHTS_STORE_BACKEND: 'auto' }, { INSIGHTS_STORE_BACKEND: 'clickhouse' }])(
    '%j is the hosts themselves, whatever else is configured',
    async (chosen) => {
      const { store, reason } = await openWith({ ...chosen, INSIGHTS_EDGESQL: 'file:/nowhere' })
      expect([store.backend, reason]).toEqual(['clickhouse', null])
    },
  )

  it.each(['edgesql', 'postgres', 'convstore'])(
    '%s without what it needs is the hosts themselves, with a warning',
    async (chosen) => {
      lines.length = 0
      const { store, reason } = await openWith({ INSIGHTS_STORE_BACKEND: chosen })
      expect(store.backend).toBe('clickhouse')
      expect(reason).not.toBeNull()
      expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: 40, chosen, reason }])
    },
  )
})
