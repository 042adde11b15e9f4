import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { waitUntil } from '#shared/bus/conformance/implementations.suite.ts'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { Announcement } from '#proto/announcements.ts'
import { ServiceError } from '#proto/errors.ts'
import { testMailUser, startMailServer } from '../channels/testing/mail-server.ts'
import { webhookRig } from '../channels/testing/webhook.ts'
import { getDeliveryRecordKey } from './delivery-record.ts'
import { type DeliveryFixture, shortRetryPlan, testServiceCall, openDeliveryFixture } from './testing/fixture.ts'
import { createScriptedChannel } from './testing/scripted-channel.ts'
import { createTestRoute } from '../testing/simulated-host.ts'
import { z } from 'zod'

const weekly: Announcement = {
  topic: 'weekly-report',
  key: 'db 2026-W47',
  title: 'Week 47 of Database',
  text: 'Nothing went wrong.\n\nAll is well.',
  facts: [{ label: 'Queries', value: '1,234,567' }],
  hostKey: 'db',
  path: '/reports/db/2026-W47',
}

describe('notifications of another service', () => {
  let opened: AsyncDisposableStack
  beforeEach(() => {
    opened = new AsyncDisposableStack()
  })
  afterEach(() => opened.disposeAsync())
  const open = async (chosen: Parameters<typeof openDeliveryFixture>[0]): Promise<DeliveryFixture> =>
    opened.use(await openDeliveryFixture(chosen))
  const notify = async (fixture: DeliveryFixture, more: Partial<Announcement> = {}) => {
    const results = await fixture.delivery.handlers.notify(Announcement.parse({ ...weekly, ...more }), testServiceCall)
    return results.map(({ name, outcome, reason }) => [name, outcome, ...(reason ? [reason] : [])].join(' '))
  }
  const ended = async (fixture: DeliveryFixture, count: number) => {
    const list = () => fixture.delivery.handlers.deliveries({ limit: 100 }, testServiceCall)
    await waitUntil(async () => (await list()).length >= count)
    return (await list()).map(({ target, kind, result }) => `${target} ${kind} ${result}`).toSorted()
  }

  it('are sent to webhook and mail with their link, and not as an alert', async () => {
    const hook = opened.use(await webhookRig.start())
    const mail = opened.use(await startMailServer({ offersTls: false }))
    const env = {
      ...webhookRig.env(hook.url),
      HEALTH_ALERT_EMAIL_PROVIDER_URL: `smtp://${testMailUser.user}:${encodeURIComponent(testMailUser.pass)}@127.0.0.1:${mail.port}`,
      HEALTH_ALERT_EMAIL_FROM: 'watch@watch.example',
      HEALTH_ALERT_EMAIL_TO: 'one@team.example',
      HEALTH_ALERT_INSTANCE_NAME: 'prod',
      HEALTH_ALERT_DASHBOARD_URL: 'https://watch.example',
      HEALTH_ALERT_PAGING_A_ROUTING_KEY: 'a'.repeat(32),
    }
    const fixture = await open({ env })
    expect(await notify(fixture)).toEqual(['webhook queued', 'email queued'])
    expect(await ended(fixture, 2)).toEqual(['default notify sent', 'default notify sent'])
    const { text, attachments } = JSON.parse(hook.taken[0]?.text ?? '')
    expect(text).toBe('[prod] Week 47 of Database <https://watch.example/reports/db/2026-W47|Open>')
    expect(attachments[0]).toMatchObject({
      text: weekly.text,
      fields: [
        { title: 'Host', value: 'Database' },
        { title: 'Queries', value: '1,234,567' },
      ],
    })
    const raw = mail.taken[0]?.raw ?? ''
    expect(raw).toContain('Subject: [prod] Week 47 of Database')
    expect(raw).toMatch(/List-Unsubscribe:\s+<mailto:watch@watch\.example\?subject=unsubscribe>/)
    expect(raw).toContain('All is well.')
  })

  it('are sent once per key', async () => {
    const post = createScriptedChannel({ announces: true, targets: ['a', 'b'] })
    const fixture = await open({ channels: [post.channel] })
    expect(await notify(fixture)).toEqual(['a queued', 'b queued'])
    await ended(fixture, 2)
    expect(await notify(fixture)).toEqual(['a already-sent', 'b already-sent'])
    expect(await notify(fixture, { key: 'db 2026-W48' })).toEqual(['a queued', 'b queued'])
    await ended(fixture, 4)
    expect(post.notified).toHaveLength(4)
  })

  it('are not repeated if the store lost its record', async () => {
    const post = createScriptedChannel({ announces: true })
    const fixture = await open({ channels: [post.channel] })
    await notify(fixture)
    const [{ episode } = { episode: '' }] = await (async () => {
      await ended(fixture, 1)
      return fixture.delivery.handlers.deliveries({ limit: 1 }, testServiceCall)
    })()
    await fixture.store.update(getDeliveryRecordKey(episode), z.unknown(), () => ({ value: undefined }))
    expect(await notify(fixture)).toEqual(['a already-sent'])
  })

  it('are retried until accepted', async () => {
    const post = createScriptedChannel({ announces: true })
    post.next('a', { kind: 'retry', reason: 'HTTP 503' }, { kind: 'retry', reason: 'HTTP 503' })
    const fixture = await open({ channels: [post.channel] })
    await notify(fixture)
    expect(await ended(fixture, 1)).toEqual(['a notify sent'])
    expect(post.tried).toHaveLength(3)
  })

  it('are not sent to paging channels', async () => {
    const [post, pager] = [
      createScriptedChannel({ announces: true }),
      createScriptedChannel({ id: 'pager', isPaging: true, targets: ['p'] }),
    ]
    const fixture = await open({ channels: [post.channel, pager.channel] })
    expect(await notify(fixture)).toEqual(['a queued'])
    await ended(fixture, 1)
    expect(pager.tried).toEqual([])
  })

  it.each([
    ['all alerts', { minSeverity: 'critical', leastSeverity: 'critical' }],
    ['its topic', { rules: { 'weekly-report': { minSeverity: 'critical' } } }],
    ['the channel', { channels: { post: { minSeverity: 'critical', variables: {} } } }],
  ] as const)('ignore the minimum severity of %s', async (_whose, policy) => {
    const post = createScriptedChannel({ announces: true })
    const fixture = await open({ channels: [post.channel], policy })
    expect(await notify(fixture)).toEqual(['a queued'])
    expect(await ended(fixture, 1)).toEqual(['a notify sent'])
  })

  it('follow routes regardless of their minimum severity', async () => {
    const post = createScriptedChannel({ announces: true, targets: ['a', 'b'] })
    const fixture = await open({ channels: [post.channel] })
    fixture.policy.routes = [createTestRoute({ target: 'b', minSeverity: 'critical' })]
    expect(await notify(fixture)).toEqual(['a held no route matches', 'b queued'])
  })

  it.each([
    ['critical alerts alone', ['critical'], ['a queued', 'b queued']],
    ['all critical alerts, and another all warnings', ['critical', 'warning'], ['a queued', 'b queued']],
    ['all critical alerts, and another all alerts', ['critical', '*'], ['a queued', 'b queued']],
    ['all alerts', ['*'], ['a queued', 'b held no route matches']],
  ] as const)('follow a route that matches %s', async (_which, severities, outcomes) => {
    const post = createScriptedChannel({ announces: true, targets: ['a', 'b'] })
    const fixture = await open({ channels: [post.channel] })
    fixture.policy.routes = severities.map((matchSeverity, index) =>
      createTestRoute({ id: `r${index}`, target: index === 0 ? 'a' : 'b', matchSeverity, last: true }),
    )
    expect(await notify(fixture)).toEqual(outcomes)
  })

  it('respect routes and disabled alerting, and report it', async () => {
    const post = createScriptedChannel({ announces: true, targets: ['a', 'b'] })
    const fixture = await open({ channels: [post.channel] })
    const held = 'held no route matches'
    fixture.policy.routes = [createTestRoute({ matchRule: 'weekly-report', target: 'b' })]
    expect(await notify(fixture)).toEqual([`a ${held}`, 'b queued'])
    fixture.policy.enabled = false
    expect(await notify(fixture, { key: 'other' })).toEqual([
      'a held alerting is disabled',
      'b held alerting is disabled',
    ])
    expect(await ended(fixture, 1)).toEqual(['b notify sent'])
  })

  it('are not collected in a digest', async () => {
    const post = createScriptedChannel({ announces: true })
    const fixture = await open({ channels: [post.channel], policy: { digestMs: 60_000 } })
    await notify(fixture)
    expect(await ended(fixture, 1)).toEqual(['a notify sent'])
  })

  it('report a failed write to the queue and succeed on the next attempt', async () => {
    const post = createScriptedChannel({ announces: true })
    const store = opened.use(await openStore({ env: {}, busIsShared: false }))
    let isFull = true
    const update: Store['update'] = (key, schema, step, fence) =>
      isFull && key.startsWith('alerts:delivery:')
        ? Promise.reject(new ServiceError('busy', 'the outbox is full'))
        : store.update(key, schema, step, fence)
    const fixture = await open({ channels: [post.channel], store: { ...store, update }, retry: shortRetryPlan })
    expect(await notify(fixture)).toEqual(['a failed the outbox is full'])
    isFull = false
    expect(await notify(fixture)).toEqual(['a queued'])
    expect(await ended(fixture, 1)).toEqual(['a notify sent'])
  })

  it('return nothing without a configured webhook or mail', async () => {
    expect(await notify(await open({}))).toEqual([])
  })

  it.each([
    ['topic', { topic: 'Weekly' }],
    ['path', { path: 'https://evil.example/' }],
    ['path', { path: '/a\nb' }],
    ['key', { key: '' }],
    ['text', { text: 'x'.repeat(16_001) }],
    ['facts', { facts: Array.from({ length: 21 }, () => ({ label: 'a', value: 'b' })) }],
  ])('reject an invalid %s: %o', (name, more) => {
    const { error } = Announcement.safeParse({ ...weekly, ...more })
    expect(error?.issues.map(({ path }) => path[0])).toEqual([name])
  })
})
