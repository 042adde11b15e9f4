import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '#shared/bus/conformance/implementations.suite.ts'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { Announcement } from '#proto/notify.ts'
import { ServiceError } from '#proto/errors.ts'
import { mailUser, startMailServer } from '../channels/testing/mail-server.ts'
import { webhookRig } from '../channels/testing/webhook.ts'
import { recordKey } from './record.ts'
import { type Place, briefRetry, call, openPlace } from './testing/place.ts'
import { scripted } from './testing/scripted.ts'
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

describe('what another service tells', () => {
  let opened: AsyncDisposableStack
  beforeEach(() => {
    opened = new AsyncDisposableStack()
  })
  afterEach(() => opened.disposeAsync())
  const open = async (chosen: Parameters<typeof openPlace>[0]): Promise<Place> => opened.use(await openPlace(chosen))
  const notify = async (place: Place, more: Partial<Announcement> = {}) => {
    const said = await place.delivery.handlers.notify(Announcement.parse({ ...weekly, ...more }), call)
    return said.map(({ name, outcome, reason }) => [name, outcome, ...(reason ? [reason] : [])].join(' '))
  }
  const ended = async (place: Place, count: number) => {
    const list = () => place.delivery.handlers.deliveries({ limit: 100 }, call)
    await until(async () => (await list()).length >= count)
    return (await list()).map(({ target, kind, result }) => `${target} ${kind} ${result}`).toSorted()
  }

  it('goes to the webhook and by mail, with its link, and calls itself no alert', async () => {
    const hook = opened.use(await webhookRig.start())
    const mail = opened.use(await startMailServer({ offersTls: false }))
    const env = {
      ...webhookRig.env(hook.url),
      HEALTH_ALERT_EMAIL_PROVIDER_URL: `smtp://${mailUser.user}:${encodeURIComponent(mailUser.pass)}@127.0.0.1:${mail.port}`,
      HEALTH_ALERT_EMAIL_FROM: 'watch@watch.example',
      HEALTH_ALERT_EMAIL_TO: 'one@team.example',
      HEALTH_ALERT_INSTANCE_NAME: 'prod',
      HEALTH_ALERT_DASHBOARD_URL: 'https://watch.example',
      HEALTH_ALERT_PAGING_A_ROUTING_KEY: 'a'.repeat(32),
    }
    const place = await open({ env })
    expect(await notify(place)).toEqual(['webhook queued', 'email queued'])
    expect(await ended(place, 2)).toEqual(['default notify sent', 'default notify sent'])
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

  it('is told once for a key, however often it is handed over', async () => {
    const post = scripted({ announces: true, targets: ['a', 'b'] })
    const place = await open({ channels: [post.channel] })
    expect(await notify(place)).toEqual(['a queued', 'b queued'])
    await ended(place, 2)
    expect(await notify(place)).toEqual(['a told', 'b told'])
    expect(await notify(place, { key: 'db 2026-W48' })).toEqual(['a queued', 'b queued'])
    await ended(place, 4)
    expect(post.told).toHaveLength(4)
  })

  it('knows who was told when the store has forgotten', async () => {
    const post = scripted({ announces: true })
    const place = await open({ channels: [post.channel] })
    await notify(place)
    const [{ episode } = { episode: '' }] = await (async () => {
      await ended(place, 1)
      return place.delivery.handlers.deliveries({ limit: 1 }, call)
    })()
    await place.store.update(recordKey(episode), z.unknown(), () => ({ value: undefined }))
    expect(await notify(place)).toEqual(['a told'])
  })

  it('is tried again until it is taken', async () => {
    const post = scripted({ announces: true })
    post.next('a', { kind: 'retry', reason: 'answered 503' }, { kind: 'retry', reason: 'answered 503' })
    const place = await open({ channels: [post.channel] })
    await notify(place)
    expect(await ended(place, 1)).toEqual(['a notify sent'])
    expect(post.tried).toHaveLength(3)
  })

  it('leaves to those who wake people what they are for', async () => {
    const [post, pager] = [scripted({ announces: true }), scripted({ id: 'pager', isPaging: true, targets: ['p'] })]
    const place = await open({ channels: [post.channel, pager.channel] })
    expect(await notify(place)).toEqual(['a queued'])
    await ended(place, 1)
    expect(pager.tried).toEqual([])
  })

  it.each([
    ['all alerts', { minSeverity: 'critical', leastSeverity: 'critical' }],
    ['its topic', { rules: { 'weekly-report': { minSeverity: 'critical' } } }],
    ['the channel', { channels: { post: { minSeverity: 'critical', variables: {} } } }],
  ] as const)('goes to the channel whatever the floor of %s', async (_whose, policy) => {
    const post = scripted({ announces: true })
    const place = await open({ channels: [post.channel], policy })
    expect(await notify(place)).toEqual(['a queued'])
    expect(await ended(place, 1)).toEqual(['a notify sent'])
  })

  it('goes where a route leads it, whatever the floor of the route', async () => {
    const post = scripted({ announces: true, targets: ['a', 'b'] })
    const place = await open({ channels: [post.channel] })
    const route = { id: 'r', target: 'b', enabled: true, minSeverity: 'critical', last: false } as const
    const anything = { matchRule: '*', matchHost: '*', matchGroup: '*', matchTag: '*', matchSeverity: '*' } as const
    place.policy.routes = [{ ...anything, ...route }]
    expect(await notify(place)).toEqual(['a held routes keep it back', 'b queued'])
  })

  it.each([
    ['critical alerts alone', ['critical'], ['a queued', 'b queued']],
    ['all critical alerts, and another all warnings', ['critical', 'warning'], ['a queued', 'b queued']],
    ['all critical alerts, and another all alerts', ['critical', '*'], ['a queued', 'b queued']],
    ['all alerts', ['*'], ['a queued', 'b held routes keep it back']],
  ] as const)('goes to the target to which a route leads %s', async (_which, severities, outcomes) => {
    const post = scripted({ announces: true, targets: ['a', 'b'] })
    const place = await open({ channels: [post.channel] })
    const always = {
      matchRule: '*',
      matchHost: '*',
      matchGroup: '*',
      matchTag: '*',
      enabled: true,
      last: true,
    } as const
    place.policy.routes = severities.map((matchSeverity, index) => ({
      ...always,
      id: `r${index}`,
      target: index === 0 ? 'a' : 'b',
      matchSeverity,
      minSeverity: null,
    }))
    expect(await notify(place)).toEqual(outcomes)
  })

  it('obeys routes and the switch of all alerts, and says so', async () => {
    const post = scripted({ announces: true, targets: ['a', 'b'] })
    const place = await open({ channels: [post.channel] })
    const held = 'held routes keep it back'
    const anything = {
      matchRule: '*',
      matchHost: '*',
      matchGroup: '*',
      matchTag: '*',
      matchSeverity: '*',
      last: false,
    } as const
    place.policy.routes = [
      { ...anything, matchRule: 'weekly-report', id: 'r', target: 'b', enabled: true, minSeverity: null },
    ]
    expect(await notify(place)).toEqual([`a ${held}`, 'b queued'])
    place.policy.enabled = false
    expect(await notify(place, { key: 'other' })).toEqual([
      'a held alerts are switched off',
      'b held alerts are switched off',
    ])
    expect(await ended(place, 1)).toEqual(['b notify sent'])
  })

  it('waits for no digest', async () => {
    const post = scripted({ announces: true })
    const place = await open({ channels: [post.channel], policy: { digestMs: 60_000 } })
    await notify(place)
    expect(await ended(place, 1)).toEqual(['a notify sent'])
  })

  it('says of a target whose queue does not take it that it failed, and takes it the next time', async () => {
    const post = scripted({ announces: true })
    const store = opened.use(await openStore({ env: {}, busIsShared: false }))
    let isFull = true
    const update: Store['update'] = (key, schema, step, fence) =>
      isFull && key.startsWith('alerts:delivery:')
        ? Promise.reject(new ServiceError('busy', 'the outbox is full'))
        : store.update(key, schema, step, fence)
    const place = await open({ channels: [post.channel], store: { ...store, update }, retry: briefRetry })
    expect(await notify(place)).toEqual(['a failed the outbox is full'])
    isFull = false
    expect(await notify(place)).toEqual(['a queued'])
    expect(await ended(place, 1)).toEqual(['a notify sent'])
  })

  it('answers with nothing where no webhook and no mail is set up', async () => {
    expect(await notify(await open({}))).toEqual([])
  })

  it.each([
    ['topic', { topic: 'Weekly' }],
    ['path', { path: 'https://evil.example/' }],
    ['path', { path: '/a\nb' }],
    ['key', { key: '' }],
    ['text', { text: 'x'.repeat(16_001) }],
    ['facts', { facts: Array.from({ length: 21 }, () => ({ label: 'a', value: 'b' })) }],
  ])('refuses a bad %s: %o', (name, more) => {
    const { error } = Announcement.safeParse({ ...weekly, ...more })
    expect(error?.issues.map(({ path }) => path[0])).toEqual([name])
  })
})
