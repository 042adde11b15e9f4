import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { waitUntil } from '#shared/bus/conformance/implementations.suite.ts'
import { openStore } from '#shared/store/open.ts'
import { systemClock } from '#shared/time/clock.ts'
import type { SendResult } from '../channels/channel.ts'
import { type Notification, toOutboxMessage } from '../notification.ts'
import { createMemoryDeliveries } from './deliveries.ts'
import { resolveRecipients } from './recipients.ts'
import { addPendingDeliveries as openRecord, getDeliveryRecordKey } from './delivery-record.ts'
import { createNotification } from './testing/notification.ts'
import { type DeliveryFixture, shortRetryPlan, testServiceCall, openDeliveryFixture } from './testing/fixture.ts'
import { createScriptedChannel } from './testing/scripted-channel.ts'

const fire = (episode: string, more: Partial<Notification> = {}) => createNotification({ episode, ...more })
const later = (kind: Notification['kind'], episode: string, sequence: number) =>
  createNotification({ kind, episode, sequence })
const retry: SendResult = { kind: 'retry', reason: 'HTTP 503' }

describe('a store that lost its data', () => {
  let opened: AsyncDisposableStack
  beforeEach(() => {
    opened = new AsyncDisposableStack()
  })
  afterEach(() => opened.disposeAsync())
  const open = async (chosen: Parameters<typeof openDeliveryFixture>[0]): Promise<DeliveryFixture> =>
    opened.use(await openDeliveryFixture(chosen))
  const ended = async (fixture: DeliveryFixture, count: number) => {
    await waitUntil(
      async () => (await fixture.delivery.handlers.deliveries({ limit: 500 }, testServiceCall)).length >= count,
    )
  }

  it('causes the last notification to be resent to targets without a recorded delivery', async () => {
    const post = createScriptedChannel({ targets: ['a', 'b'] })
    post.always('b', retry)
    const inDatabase = await open({ channels: [post.channel] })
    await inDatabase.notify(fire('e'))
    await ended(inDatabase, 1)
    const again = { isAgain: true }
    expect(await inDatabase.delivery.isMissed(fire('e', again))).toBe(true)
    expect(await inDatabase.delivery.isMissed(later('recover', 'never', 1))).toBe(false)
    // Simulates an emptied store while this process still has the notification queued for the other target.
    const [id] = [createNotification({ episode: 'e' }).id]
    await inDatabase.store.outbox.ack([id])
    await inDatabase.store.update(getDeliveryRecordKey('e'), z.unknown(), () => ({ value: undefined }))
    expect(await inDatabase.delivery.isMissed(later('recover', 'e', 1))).toBe(true)
    post.always('b', undefined)
    await inDatabase.notify(fire('e', again))
    await waitUntil(() => post.notified.includes('b fire e'))
    await waitUntil(async () => !(await inDatabase.delivery.isMissed(fire('e', again))))
    await inDatabase.notify(later('recover', 'e', 1))
    await ended(inDatabase, 4)
    expect(post.notified.toSorted()).toEqual(['a fire e', 'a recover e', 'b fire e', 'b recover e'])
  })

  it('sends nothing that is no longer in the outbox', async () => {
    const post = createScriptedChannel()
    post.next('a', retry)
    const fixture = await open({ channels: [post.channel], retry: { ...shortRetryPlan, waitsMs: [200] } })
    await fixture.notify(fire('e'))
    await waitUntil(() => post.tried.length === 1)
    await fixture.store.outbox.ack([createNotification({ episode: 'e' }).id])
    await fixture.notify(fire('other'))
    await ended(fixture, 1)
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(post.tried).toEqual(['a fire e', 'a fire other'])
  })

  /** Deletes the messages and the delivery records of notifications, as if the store had been emptied. */
  const lose = async ({ store }: DeliveryFixture, ...notifications: readonly Notification[]) => {
    await store.outbox.ack(notifications.map(({ id }) => id))
    for (const { episode } of notifications)
      await store.update(getDeliveryRecordKey(episode), z.unknown(), () => ({ value: undefined }))
  }

  /** Returns delivery records in which target `a` received the alert. */
  const whereTaken = async () => {
    const deliveries = createMemoryDeliveries()
    const { kind, ruleId, hostKey, severity } = fire('e')
    const of = { episode: 'e', sequence: 0, kind, ruleId, hostKey, severity, channel: 'post', target: 'a' }
    await deliveries.put([{ ...of, id: 'e:0', atMs: 1, result: 'sent', reason: null, attempts: 1 }])
    return deliveries
  }

  it('sends recoveries to earlier recipients, even while the alert is queued again', async () => {
    const store = opened.use(await openStore({ env: {}, busIsShared: false }))
    await store.update('state', z.number(), () => ({
      value: 1,
      outbox: [toOutboxMessage(fire('e', { isAgain: true }))],
    }))
    const deliveries = await whereTaken()
    const opening = await resolveRecipients(
      { store, deliveries, clock: systemClock },
      later('recover', 'e', 1),
      undefined,
      () => [],
    )
    expect(opening).toMatchObject({ keys: ['post:a'], notified: [{ key: 'post:a', sequence: 0 }], isWhole: false })
  })

  it('sends a repeated recovery also to recipients that the record lacks', async () => {
    const store = opened.use(await openStore({ env: {}, busIsShared: false }))
    const end = later('recover', 'e', 1)
    const record = openRecord(undefined, end, { keys: ['post:b'], isWhole: true, nowMs: 1 })
    const deps = { store, deliveries: await whereTaken(), clock: systemClock }
    const opening = await resolveRecipients(deps, { ...end, isAgain: true }, record, () => [])
    expect(opening.keys.toSorted()).toEqual(['post:a', 'post:b'])
  })

  it('drops a recovery without its record and reopens it from the database', async () => {
    const post = createScriptedChannel({ targets: ['a', 'b'] })
    const fixture = await open({ channels: [post.channel], claims: { atOnce: 10, claimMs: 300 } })
    await fixture.notify(fire('e'))
    await ended(fixture, 2)
    post.always('b', retry)
    const end = later('recover', 'e', 1)
    await fixture.notify(end)
    await ended(fixture, 3)
    // Deletes the record while the recovery is being retried for `b`. The message stays in the outbox.
    await fixture.store.update(getDeliveryRecordKey('e'), z.unknown(), () => ({ value: undefined }))
    post.always('b', undefined)
    await waitUntil(() => post.notified.includes('b recover e'))
    expect(post.notified.filter((notified) => notified === 'a recover e')).toHaveLength(1)
  })

  it('does not recreate part of a record that was lost during a send', async () => {
    const post = createScriptedChannel({ targets: ['a', 'b'] })
    const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const fixture = await open({ channels: [post.channel] })
    await fixture.notify(fire('e'))
    await ended(fixture, 2)
    post.always('b', retry)
    post.next('a', async () => {
      arrived.resolve()
      await released.promise
      return { kind: 'ok' }
    })
    const end = later('recover', 'e', 1)
    await fixture.notify(end)
    await arrived.promise
    await waitUntil(() => post.tried.includes('b recover e'))
    await lose(fixture, end)
    released.resolve()
    await ended(fixture, 3)
    expect(await fixture.delivery.isMissed({ ...end, isAgain: true })).toBe(true)
  })
})
