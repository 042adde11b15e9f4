import { afterAll, beforeAll, expect, it } from 'vitest'
import type { PageView } from '#proto/page-views.ts'
import { query } from '#proto/query.ts'
import { openBus, openMemoryHub } from '#shared/bus/open.ts'
import { createClock, systemClock } from '#shared/time/clock.ts'
import { openReadiness } from '#shared/lifecycle/readiness.ts'
import { openNet } from '#shared/net/net.ts'
import { openStore } from '#shared/store/open.ts'
import { fetchText } from '../../sandbox/curl.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { start } from '../service.ts'
import { createCall, openTestService, createSilentTelemetry } from '../testing/test-service.ts'
import { createPageViewHandlers } from './handlers.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox()
  await fetchText(sandbox.url, 'CREATE DATABASE tracked')
  await fetchText(sandbox.url, 'CREATE DATABASE charted')
}, 180_000)
afterAll(() => sandbox?.[Symbol.asyncDispose]())

const view: PageView = {
  page: `/tables/[name]`,
  actor: `o'ada\\"`,
  device: 'mobile',
  bot: true,
  country: null,
  atMs: Date.now(),
}
const keep = async (env: Record<string, string>) => {
  await using parts = await openTestService({ COLUMNDB_HOST: sandbox.url, COLUMNDB_NAME: 'box', ...env })
  const { enabled } = await parts.handlers.tracksPageViews({}, createCall())
  return { enabled, ...(await parts.handlers.storePageViews({ hostKey: 'box', views: [view, view] }, createCall())) }
}

it(
  'keeps page views in the table that the operator names, which it creates, as the charts read them',
  { tags: ['long'] },
  async () => {
    const env = { EVENTS_TABLE_NAME: 'tracked.views' }
    expect(await keep(env)).toEqual({ enabled: true, kept: 2 })
    expect(await keep(env)).toEqual({ enabled: true, kept: 2 })
    const kept = `SELECT kind, data, actor, extra, toUnixTimestamp(event_time) AS time, event_date = toDate(event_time) AS dated`
    const row = await fetchText(sandbox.url, `${kept} FROM tracked.views LIMIT 1 FORMAT JSONEachRow`)
    expect(JSON.parse(row)).toEqual({
      kind: 'PageView',
      data: view.page,
      actor: view.actor,
      extra: '{"device":"mobile","bot":true,"country":""}',
      time: Math.floor(view.atMs / 1_000),
      dated: 1,
    })
    expect(await fetchText(sandbox.url, 'SELECT count(), uniqExact(actor) FROM tracked.views')).toBe('4\t1')
  },
)

it('stores page views by default, in system or in COLUMNDB_DATABASE', { tags: ['long'] }, async () => {
  expect(await keep({})).toEqual({ enabled: true, kept: 2 })
  expect(await fetchText(sandbox.url, 'SELECT count() FROM system.monitoring_events')).toBe('2')
  expect(await keep({ COLUMNDB_DATABASE: 'tracked' })).toEqual({ enabled: true, kept: 2 })
  expect(await fetchText(sandbox.url, 'SELECT count() FROM tracked.monitoring_events')).toBe('2')
  expect(await keep({ COLUMNDB_DATABASE: 'tracked', EVENTS_TABLE_NAME: 'tracked.own' })).toMatchObject({ kept: 2 })
  expect(await fetchText(sandbox.url, 'SELECT count() FROM tracked.own')).toBe('2')
})

it('stores none if the user may not write, and retries an hour later', async () => {
  let nowMs = 0
  const reader = { COLUMNDB_USER: 'reports', COLUMNDB_PASSWORD: 'reports' }
  await using parts = await openTestService({ COLUMNDB_HOST: sandbox.url, COLUMNDB_NAME: 'box', ...reader })
  const { tracksPageViews, storePageViews } = createPageViewHandlers({ ...parts, clock: createClock(() => nowMs) })
  expect(await tracksPageViews({}, createCall())).toEqual({ enabled: true })
  expect(await storePageViews({ hostKey: 'box', views: [view] }, createCall())).toEqual({ kept: 0 })
  expect(await tracksPageViews({}, createCall())).toEqual({ enabled: false })
  nowMs = 3_600_000
  expect(await tracksPageViews({}, createCall())).toEqual({ enabled: true })
})

/** Starts the service with the methods that the gateway calls. */
const startService = async (env: Record<string, string>) => {
  await using scope = new AsyncDisposableStack()
  const [hub, telemetry, clock] = [openMemoryHub(), createSilentTelemetry(), systemClock]
  const busOf = async (caller: 'query' | 'gateway') =>
    scope.use(await openBus({ hub, caller, instance: caller, version: '1', telemetry, clock }))
  const [bus, gateway] = [await busOf('query'), await busOf('gateway')]
  const store = scope.use(await openStore({ env, busIsShared: false }))
  const net = scope.use(openNet({ env }))
  const openQueue = () => Promise.reject(new Error('query has no queue'))
  scope.use(await start({ env, bus, store, net, telemetry, clock, readiness: openReadiness(), openQueue }))
  const running = scope.move()
  return { client: gateway.client(query), [Symbol.asyncDispose]: () => running.disposeAsync() }
}

it('shows the page views of COLUMNDB_DATABASE in charts', async () => {
  const env = { COLUMNDB_HOST: sandbox.url, COLUMNDB_NAME: 'box', COLUMNDB_DATABASE: 'charted' }
  await using service = await startService(env)
  await service.client.storePageViews({ hostKey: 'box', views: [view, { ...view, actor: 'eve' }] }, createCall())
  const chart = await service.client.chart({ hostKey: 'box', name: 'page-view' }, createCall())
  expect(chart.rows.at(-1)).toMatchObject({ views: 2, people: 2 })
})

it('keeps page views for 180 days', async () => {
  const table = 'tracked.aged'
  const dayMs = 86_400_000
  await using parts = await openTestService({
    COLUMNDB_HOST: sandbox.url,
    COLUMNDB_NAME: 'box',
    EVENTS_TABLE_NAME: table,
  })
  const views = [179, 182].map((days) => ({ ...view, atMs: Date.now() - days * dayMs }))
  await parts.handlers.storePageViews({ hostKey: 'box', views }, createCall())
  await fetchText(sandbox.url, `OPTIMIZE TABLE ${table} FINAL`)
  expect(await fetchText(sandbox.url, `SELECT count() FROM ${table}`)).toBe('1')
})

it('removes the page views of one user, or names the missing grant', async () => {
  const own = { COLUMNDB_HOST: sandbox.url, COLUMNDB_NAME: 'box', EVENTS_TABLE_NAME: 'tracked.left' }
  await using parts = await openTestService(own)
  const remove = (from: typeof parts, actor: string) =>
    from.handlers.removePageViews({ hostKey: 'box', actor }, createCall())
  expect(await remove(parts, view.actor)).toEqual({ removed: 0 })
  await parts.handlers.storePageViews({ hostKey: 'box', views: [view, view, { ...view, actor: 'eve' }] }, createCall())
  await using reading = await openTestService({ ...own, COLUMNDB_USER: 'analyst', COLUMNDB_PASSWORD: 'analyst' })
  const grant = 'GRANT ALTER DELETE ON tracked.left'
  await expect(remove(reading, view.actor)).rejects.toMatchObject({ code: 'forbidden', details: { grant } })
  expect(await remove(parts, view.actor)).toEqual({ removed: 2 })
  const actors = () => fetchText(sandbox.url, 'SELECT groupUniqArray(actor) FROM tracked.left')
  await expect.poll(actors, { timeout: 10_000 }).toBe("['eve']")
  expect(await remove(parts, view.actor)).toEqual({ removed: 0 })
})
