import { afterAll, beforeAll, expect, it } from 'vitest'
import type { PageView } from '#proto/page-views.ts'
import { answerOf } from '../../sandbox/curl.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { aCall, openParts } from '../testing/open-parts.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox()
  await answerOf(sandbox.url, 'CREATE DATABASE tracked')
}, 180_000)
afterAll(() => sandbox?.[Symbol.asyncDispose]())

const view: PageView = {
  page: `/tables/[name]`,
  actor: `o'ada\\"`,
  device: 'mobile',
  bot: true,
  country: null,
  atMs: 1_790_000_000_999,
}
const keep = async (env: Record<string, string>) => {
  await using parts = await openParts({ COLUMNDB_HOST: sandbox.url, COLUMNDB_NAME: 'box', ...env })
  const { enabled } = await parts.handlers.tracksPageViews({}, aCall())
  return { enabled, ...(await parts.handlers.keepPageViews({ hostKey: 'box', views: [view, view] }, aCall())) }
}

it('keeps page views in the table that the operator names, which it creates, as the charts read them', async () => {
  const env = { EVENTS_TABLE_NAME: 'tracked.views' }
  expect(await keep(env)).toEqual({ enabled: true, kept: 2 })
  expect(await keep(env)).toEqual({ enabled: true, kept: 2 })
  const kept = `SELECT kind, data, actor, extra, toUnixTimestamp(event_time) AS time, toString(event_date) AS day`
  const row = await answerOf(sandbox.url, `${kept} FROM tracked.views LIMIT 1 FORMAT JSONEachRow`)
  expect(JSON.parse(row)).toEqual({
    kind: 'PageView',
    data: view.page,
    actor: view.actor,
    extra: '{"device":"mobile","bot":true,"country":""}',
    time: 1_790_000_000,
    day: '2026-09-21',
  })
  expect(await answerOf(sandbox.url, 'SELECT count(), uniqExact(actor) FROM tracked.views')).toBe('4\t1')
})

it('writes nothing to a host unless the operator names a table', async () => {
  expect(await keep({})).toEqual({ enabled: false, kept: 0 })
  expect(await answerOf(sandbox.url, `SELECT count() FROM system.tables WHERE name = 'monitoring_events'`)).toBe('0')
})
