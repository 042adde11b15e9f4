import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { waitUntil } from '#shared/bus/conformance/implementations.suite.ts'
import type { SendResult } from '../channels/channel.ts'
import {
  type AddressedNotification,
  type Notification,
  addressedNotificationTopic,
  toOutboxMessage,
  getDeliveryId,
} from '../notification.ts'
import type { NotificationRoute } from '../policy.ts'
import { brokenChannelRuleId } from './misconfigured-notification.ts'
import {
  DeliveryRecord,
  markSending,
  recordSendEnd,
  addPendingDeliveries as openRecord,
  getDeliveryRecordKey,
  getTargetKey,
} from './delivery-record.ts'
import { createNotification } from './testing/notification.ts'
import { type DeliveryFixture, shortRetryPlan, testServiceCall, openDeliveryFixture } from './testing/fixture.ts'
import { createScriptedChannel } from './testing/scripted-channel.ts'
import { createTestRoute } from '../testing/simulated-host.ts'

const fire = (episode: string, more: Partial<Notification> = {}) => createNotification({ episode, ...more })
const later = (kind: Notification['kind'], episode: string, sequence: number, more: Partial<Notification> = {}) =>
  createNotification({ kind, episode, sequence, ...more })
const retry: SendResult = { kind: 'retry', reason: 'HTTP 503' }

const route = (target: string, more: Partial<NotificationRoute> = {}) =>
  createTestRoute({ id: target, target, ...more })

describe('delivery', () => {
  let opened: AsyncDisposableStack
  beforeEach(() => {
    opened = new AsyncDisposableStack()
  })
  afterEach(() => opened.disposeAsync())
  const open = async (chosen: Parameters<typeof openDeliveryFixture>[0]): Promise<DeliveryFixture> =>
    opened.use(await openDeliveryFixture(chosen))
  const ends = async (fixture: DeliveryFixture) => {
    const found = await fixture.delivery.handlers.deliveries({ limit: 500 }, testServiceCall)
    return found.map(({ target, kind, episode, result, reason }) =>
      [target, kind, episode, result, ...(reason ? [reason] : [])].join(' '),
    )
  }
  /** Resends the newest dead letter and returns it. */
  const replayNewest = async ({ delivery: { handlers } }: DeliveryFixture) => {
    const [letter] = (await handlers.deadLetters({ limit: 10 }, testServiceCall)).letters
    await handlers.replayDeadLetter({ id: letter?.id ?? '' }, testServiceCall)
    return { id: '', ...letter }
  }
  const ended = async (fixture: DeliveryFixture, count: number) => {
    await waitUntil(async () => (await ends(fixture)).length >= count)
    return (await ends(fixture)).toSorted()
  }

  it.each([
    ['alone', []],
    ['and of what followed', [later('recover', 'e', 1)]],
  ])('records a delivery as sent, %s, even if its sender and the rate limit state are lost', async (_, more) => {
    const post = createScriptedChannel({ targets: ['a'] })
    const fixture = await open({ channels: [post.channel] })
    const notification = fire('e')
    const key = getTargetKey({ channel: post.channel.id, target: 'a' })
    const opening = { keys: [key], isWhole: true, nowMs: Date.now() }
    await fixture.store.update(getDeliveryRecordKey('e'), DeliveryRecord, (before) => ({
      value: [notification, ...more].reduce<DeliveryRecord | undefined>((record, each) => {
        const started = markSending(openRecord(record, each, opening), key, each)
        return recordSendEnd(started, key, each, { result: { kind: 'ok' }, isOver: true })
      }, before),
      outbox: [{ ...toOutboxMessage(notification), id: 'claimed before' }],
    }))
    expect(await ended(fixture, 1)).toEqual(['a fire e sent'])
    expect(post.notified).toEqual([])
  })

  it('notifies each target once, even if the notification is queued twice', async () => {
    const post = createScriptedChannel({ targets: ['a', 'b'] })
    const fixture = await open({ channels: [post.channel] })
    await fixture.notify(fire('e'))
    await ended(fixture, 2)
    await fixture.notify(fire('e'), later('remind', 'e', 1))
    await ended(fixture, 4)
    expect(post.notified.toSorted()).toEqual(['a fire e', 'a remind e', 'b fire e', 'b remind e'])
  })

  it('sends the recovery to the recipients of the alert, regardless of new routes', async () => {
    const post = createScriptedChannel({ targets: ['a', 'b'] })
    const fixture = await open({ channels: [post.channel], policy: { routes: [route('a')] } })
    await fixture.notify(fire('e'))
    await ended(fixture, 1)
    fixture.policy.routes = [route('b')]
    await fixture.notify(later('recover', 'e', 1))
    await ended(fixture, 2)
    expect(post.notified).toEqual(['a fire e', 'a recover e'])
  })

  it('prefers the minimum severity of a rule over the global one', async () => {
    const post = createScriptedChannel({ targets: ['a'] })
    const rules = { low: { minSeverity: 'warning' as const } }
    const fixture = await open({ channels: [post.channel], policy: { minSeverity: 'critical', rules } })
    const warning = { severity: 'warning' as const }
    await fixture.notify(fire('e', { ...warning, ruleId: 'other' }), fire('f', { ...warning, ruleId: 'low' }))
    expect(await ended(fixture, 1)).toEqual(['a fire f sent'])
  })

  it('sends no recovery if the alert was never sent', async () => {
    const post = createScriptedChannel()
    const fixture = await open({ channels: [post.channel], policy: { minSeverity: 'critical' } })
    await fixture.notify(fire('mild'))
    await waitUntil(async () => (await fixture.store.get(getDeliveryRecordKey('mild'), z.unknown())) !== undefined)
    fixture.policy.minSeverity = 'warning'
    await fixture.notify(later('recover', 'mild', 1), fire('other'))
    await ended(fixture, 1)
    expect(post.tried).toEqual(['a fire other'])
  })

  it('drops an alert that recovered before it was sent, and its recovery', async () => {
    const post = createScriptedChannel()
    post.always('a', retry)
    const fixture = await open({ channels: [post.channel], retry: { ...shortRetryPlan, waitsMs: [300] } })
    await fixture.notify(fire('e'))
    await waitUntil(() => post.tried.length === 1)
    await fixture.notify(later('recover', 'e', 1))
    post.always('a', undefined)
    expect(await ended(fixture, 2)).toEqual([
      'a fire e dropped recovered before it was sent',
      'a recover e dropped the target never received the alert that recovered',
    ])
    expect(post.notified).toEqual([])
  })

  it('sends the recovery if the alert may have arrived', async () => {
    const post = createScriptedChannel()
    post.next('a', { kind: 'retry', reason: 'did not answer in time', mayHaveArrived: true })
    const fixture = await open({ channels: [post.channel], retry: { ...shortRetryPlan, waitsMs: [200] } })
    await fixture.notify(fire('e'))
    await waitUntil(() => post.tried.length === 1)
    await fixture.notify(later('recover', 'e', 1))
    await ended(fixture, 2)
    expect(post.notified).toEqual(['a recover e'])
  })

  it('delays a recovery until sending its alert has ended', async () => {
    const post = createScriptedChannel()
    const { promise, resolve } = Promise.withResolvers<SendResult>()
    post.next('a', () => promise)
    const fixture = await open({ channels: [post.channel] })
    await fixture.notify(fire('e'))
    await waitUntil(() => post.tried.length === 1)
    await fixture.notify(later('recover', 'e', 1), fire('other'))
    await waitUntil(() => post.notified.includes('a fire other'))
    expect(post.tried).not.toContain('a recover e')
    resolve({ kind: 'ok' })
    await ended(fixture, 3)
    expect(post.notified).toEqual(['a fire other', 'a fire e', 'a recover e'])
  })

  it('sends only the latest notification of an episode', async () => {
    const post = createScriptedChannel()
    post.next('a', retry)
    const fixture = await open({ channels: [post.channel], retry: { ...shortRetryPlan, waitsMs: [200] } })
    await fixture.notify(fire('e'))
    await waitUntil(() => post.tried.length === 1)
    await fixture.notify(later('escalate', 'e', 1, { severity: 'critical' }))
    expect(await ended(fixture, 2)).toEqual([
      'a escalate e sent',
      'a fire e dropped superseded by a later notification',
    ])
    expect(post.notified).toEqual(['a escalate e'])
  })

  it('sends a recovery if its record was lost', async () => {
    const post = createScriptedChannel()
    const fixture = await open({ channels: [post.channel] })
    await fixture.notify(fire('e'))
    await ended(fixture, 1)
    await fixture.store.update(getDeliveryRecordKey('e'), z.unknown(), () => ({ value: undefined }))
    await fixture.notify(later('recover', 'e', 1))
    await ended(fixture, 2)
    expect(post.notified).toEqual(['a fire e', 'a recover e'])
  })

  it('sends it along the routes if the delivery records are lost too', async () => {
    const post = createScriptedChannel({ targets: ['a', 'b'] })
    const fixture = await open({ channels: [post.channel], policy: { routes: [route('a')] } })
    await fixture.notify(fire('e'))
    await ended(fixture, 1)
    await fixture.store.update(getDeliveryRecordKey('e'), z.unknown(), () => ({ value: undefined }))
    await fixture.delivery.prune(Number.MAX_SAFE_INTEGER)
    await fixture.notify(later('recover', 'e', 1))
    await ended(fixture, 1)
    expect(post.notified).toEqual(['a fire e', 'a recover e'])
  })

  it('gives up after the lifetime and reports the last failure', async () => {
    const post = createScriptedChannel()
    post.always('a', retry)
    const lifeMs = { paging: 10_000, others: 1_500 }
    const fixture = await open({ channels: [post.channel], retry: { ...shortRetryPlan, lifeMs } })
    await fixture.notify(fire('e'))
    expect(await ended(fixture, 1)).toEqual([expect.stringMatching(/^a fire e dead .*HTTP 503$/)])
    expect(post.tried.length).toBeGreaterThan(1)
  })

  it('resends a dead letter once on request', async () => {
    const post = createScriptedChannel()
    post.next('a', { kind: 'permanent', reason: 'HTTP 400' })
    const fixture = await open({ channels: [post.channel] })
    const { handlers } = fixture.delivery
    await fixture.notify(fire('e'))
    await ended(fixture, 1)
    const letter = await replayNewest(fixture)
    expect(letter).toMatchObject({ episode: 'e', reason: 'HTTP 400', target: 'a' })
    await waitUntil(() => post.notified.length === 1)
    const again = handlers.replayDeadLetter({ id: letter.id }, testServiceCall)
    await expect(again).rejects.toMatchObject({ code: 'not-found' })
    expect((await handlers.deadLetters({ limit: 10 }, testServiceCall)).letters).toEqual([])
    expect(post.notified).toEqual(['a fire e'])
  })

  it('gives a resent dead letter a new lifetime', async () => {
    const post = createScriptedChannel()
    post.always('a', retry)
    const fixture = await open({
      channels: [post.channel],
      retry: { ...shortRetryPlan, lifeMs: { paging: 300, others: 300 } },
    })
    await fixture.notify(fire('e'))
    await ended(fixture, 1)
    await new Promise((resolve) => setTimeout(resolve, 300))
    post.always('a', undefined)
    await replayNewest(fixture)
    await waitUntil(() => post.notified.length === 1)
    expect(post.notified).toEqual(['a fire e'])
  })

  it('drops an obsolete dead letter on resending', async () => {
    const post = createScriptedChannel()
    post.next('a', { kind: 'permanent', reason: 'HTTP 400' })
    const fixture = await open({ channels: [post.channel] })
    await fixture.notify(fire('e'))
    await ended(fixture, 1)
    await fixture.notify(later('recover', 'e', 1))
    await ended(fixture, 2)
    await replayNewest(fixture)
    await waitUntil(async () => (await ends(fixture)).includes('a fire e dropped recovered before it was sent'))
    expect(post.notified).toEqual([])
  })

  it('reports a misconfigured target and its recovery through other targets', async () => {
    const post = createScriptedChannel({ targets: ['a', 'b'] })
    post.next('a', { kind: 'config', reason: 'HTTP 404' })
    const fixture = await open({ channels: [post.channel] })
    await fixture.notify(fire('e'))
    await waitUntil(() => post.notified.length === 2)
    expect(post.messages.map(({ notification }) => notification.ruleId)).toContain(brokenChannelRuleId)
    expect(post.messages.map(({ headline }) => headline)).toContain('WARNING: Notifications fail for post:a')
    await fixture.notify(fire('other'))
    const isRecovery = ({ kind, ruleId }: Notification) => ruleId === brokenChannelRuleId && kind === 'recover'
    await waitUntil(() => post.messages.some(({ notification }) => isRecovery(notification)))
    expect(post.tried.filter((line) => line.startsWith('a ') && line.includes('broken'))).toEqual([])
  })

  it('keeps pages for a misconfigured target until it works, and ends other notifications', async () => {
    const post = createScriptedChannel({ targets: ['a', 'b'] })
    post.next('a', { kind: 'config', reason: 'HTTP 401' }, { kind: 'config', reason: 'HTTP 401' })
    const fixture = await open({ channels: [post.channel], retry: { ...shortRetryPlan, waitsMs: [50] } })
    await fixture.notify(fire('page', { severity: 'critical' }))
    await waitUntil(() => post.notified.includes('a fire page'))
    expect(post.tried.filter((line) => line === 'a fire page')).toHaveLength(3)
    post.next('a', { kind: 'config', reason: 'HTTP 401' })
    await fixture.notify(fire('mild'))
    await waitUntil(async () => (await ends(fixture)).includes('a fire mild dead HTTP 401'))
  })

  it('keeps every message of a paging channel for its lifetime', async () => {
    const pager = createScriptedChannel({ isPaging: true })
    pager.next('a', { kind: 'config', reason: 'HTTP 404' })
    const fixture = await open({ channels: [pager.channel] })
    await fixture.notify(fire('mild'))
    expect(await ended(fixture, 1)).toEqual(['a fire mild sent'])
  })

  it('reports a misconfigured target even if no route or severity matches', async () => {
    const post = createScriptedChannel({ targets: ['a', 'b'] })
    post.always('a', { kind: 'config', reason: 'HTTP 404' })
    const fixture = await open({ channels: [post.channel], policy: { minSeverity: 'critical', routes: [route('a')] } })
    await fixture.notify(fire('page', { severity: 'critical' }))
    await waitUntil(() => post.messages.some(({ notification }) => notification.ruleId === brokenChannelRuleId))
    expect(post.notified[0]).toMatch(/^b fire broken:post:a/)
  })

  it('sends each target its part of a digest, and recoveries to its recipients', async () => {
    const post = createScriptedChannel({ targets: ['a', 'b'] })
    const routes = [
      route('a', { matchRule: 'disk*' }),
      route('b', { matchRule: 'parts' }),
      route('b', { matchRule: 'digest' }),
    ]
    const fixture = await open({ channels: [post.channel], policy: { routes } })
    const entry = (episode: string, ruleId: string, recovered = false) =>
      ({ episode, ruleId, hostKey: 'db', source: null, title: ruleId, severity: 'warning', recovered }) as const
    const gathered = [entry('e1', 'disk-usage'), entry('e2', 'parts'), entry('e3', 'disk-errors', true)]
    await fixture.notify(fire('d', { kind: 'digest', ruleId: 'digest', hostKey: null, gathered }))
    await ended(fixture, 2)
    const got = post.messages.map(({ gathered: lines }) => lines)
    expect(got).toContainEqual([
      'WARNING: disk-usage on Database',
      'WARNING: disk-errors on Database (fired and recovered)',
    ])
    expect(got).toContainEqual(['WARNING: parts on Database'])
    await fixture.notify(later('recover', 'e1', 1, { ruleId: 'disk-usage' }))
    await ended(fixture, 3)
    expect(post.notified.slice(2)).toEqual(['a recover e1'])
  })

  it('collects notifications below critical while a digest window is configured', async () => {
    const post = createScriptedChannel()
    const fixture = await open({ channels: [post.channel], policy: { digestMs: 60_000 } })
    await fixture.notify(fire('mild'))
    await fixture.notify(fire('bad', { severity: 'critical' }))
    await ended(fixture, 1)
    expect(post.tried).toEqual(['a fire bad'])
  })

  it('does not delay other targets while one pauses', async () => {
    const post = createScriptedChannel({ targets: ['dead', 'well'] })
    post.always('dead', retry)
    const fixture = await open({
      channels: [post.channel],
      retry: { ...shortRetryPlan, maxRestMs: 60_000, maxWaitMs: 60_000, waitsMs: [60_000] },
    })
    const episodes = Array.from({ length: 300 }, (_, index) => fire(`e${index}`))
    for (const notification of episodes) await fixture.notify(notification)
    await ended(fixture, 300)
    expect(post.notified).toHaveLength(300)
    expect(post.tried.filter((line) => line.startsWith('dead')).length).toBeLessThanOrEqual(16)
  })

  it('notifies a target at once while five thousand messages wait for another', { tags: ['long'] }, async () => {
    const post = createScriptedChannel({ targets: ['dead', 'well'] })
    post.always('dead', retry)
    const longMs = 600_000
    const lifeMs = { paging: 2 * longMs, others: 2 * longMs }
    const longRetry = { lifeMs, waitsMs: [longMs], maxRestMs: longMs, maxWaitMs: longMs, holdMs: longMs }
    const fixture = await open({
      channels: [post.channel],
      retry: { ...shortRetryPlan, ...longRetry },
      policy: { routes: [route('well')] },
    })
    for (let index = 0; index < 5_000; index += 1) {
      const payload: AddressedNotification = { notification: fire(`d${index}`), channel: 'post', target: 'dead' }
      const outbox = [{ id: getDeliveryId(payload), topic: addressedNotificationTopic, payload }]
      await fixture.store.update(`test:d${index}`, z.number(), () => ({ value: 1, outbox }))
    }
    await fixture.notify(fire('e'))
    expect(await ended(fixture, 1)).toEqual(['well fire e sent'])
    expect(post.tried.filter((line) => line.startsWith('dead')).length).toBeLessThanOrEqual(16)
  })

  it('respects the concurrency limit of a target', async () => {
    const post = createScriptedChannel({ limits: { concurrency: 2 } })
    let [inHand, most] = [0, 0]
    post.next(
      'a',
      ...Array.from({ length: 20 }, () => async (): Promise<SendResult> => {
        inHand += 1
        most = Math.max(most, inHand)
        await new Promise((resolve) => setTimeout(resolve, 5))
        inHand -= 1
        return { kind: 'ok' }
      }),
    )
    const fixture = await open({ channels: [post.channel] })
    for (let index = 0; index < 20; index += 1) await fixture.notify(fire(`e${index}`))
    await ended(fixture, 20)
    expect(most).toBe(2)
  })

  it('drops notifications for a deleted target', async () => {
    const post = createScriptedChannel()
    const fixture = await open({ channels: [post.channel] })
    const { promise, resolve } = Promise.withResolvers<SendResult>()
    post.next('a', () => promise)
    await fixture.notify(fire('e'))
    await waitUntil(() => post.tried.length === 1)
    fixture.policy.channels = { post: { enabled: false, variables: {} } }
    resolve(retry)
    expect(await ended(fixture, 1)).toEqual(['a fire e dropped its target is disabled or was deleted'])
  })
})
