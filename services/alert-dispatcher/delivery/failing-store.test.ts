import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { waitUntil } from '#shared/bus/conformance/implementations.suite.ts'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { DeliveryRecord, addPendingDeliveries as openRecord, getDeliveryRecordKey } from './delivery-record.ts'
import { createNotification } from './testing/notification.ts'
import { type DeliveryFixture, shortRetryPlan, testServiceCall, openDeliveryFixture } from './testing/fixture.ts'
import { createScriptedChannel } from './testing/scripted-channel.ts'

const fire = (episode: string) => createNotification({ episode })
const recovery = (episode: string) => createNotification({ kind: 'recover', episode, sequence: 1 })
const reminder = createNotification({ kind: 'remind', episode: 'e', sequence: 1 })

describe('delivery with a failing store', () => {
  let opened: AsyncDisposableStack
  beforeEach(() => {
    opened = new AsyncDisposableStack()
  })
  afterEach(() => opened.disposeAsync())
  const open = async (chosen: Parameters<typeof openDeliveryFixture>[0]): Promise<DeliveryFixture> =>
    opened.use(await openDeliveryFixture(chosen))
  const ended = async (fixture: DeliveryFixture, count: number) => {
    const ends = () => fixture.delivery.handlers.deliveries({ limit: 500 }, testServiceCall)
    await waitUntil(async () => (await ends()).length >= count)
    return (await ends())
      .map(({ target, kind, episode, result, reason }) =>
        [target, kind, episode, result, reason ?? ''].join(' ').trim(),
      )
      .toSorted()
  }

  it('makes an alert obsolete that is claimed with its recovery, even while the target pauses', async () => {
    const post = createScriptedChannel()
    post.next('a', { kind: 'retry', reason: 'HTTP 503', afterMs: 1_500 })
    const fixture = await open({ channels: [post.channel], claims: { atOnce: 10, claimMs: 60_000 } })
    await fixture.notify(fire('other'))
    await waitUntil(() => post.tried.length === 1)
    await fixture.notify(fire('e'), recovery('e'))
    await waitUntil(async () => (await fixture.store.get(getDeliveryRecordKey('e'), DeliveryRecord))?.endedBy === 1)
    expect(await ended(fixture, 3)).toEqual([
      'a fire e dropped recovered before it was sent',
      'a fire other sent',
      'a recover e dropped the target never received the alert that recovered',
    ])
  })

  /** Returns a store whose next matching write fails. */
  const failingOnce = async (isChosen: (key: string) => boolean): Promise<Store> => {
    const inner = opened.use(await openStore({ env: {}, busIsShared: false }))
    let hasFailed = false
    const failFor = (keys: readonly string[]) => {
      if (hasFailed || !keys.some(isChosen)) return
      hasFailed = true
      throw new ServiceError('unavailable', 'the store does not answer')
    }
    return {
      ...inner,
      async update(key, schema, step, fence) {
        failFor([key])
        return inner.update(key, schema, step, fence)
      },
      async updateTogether(keys, step) {
        failFor([...(keys.one ? [keys.one.key] : []), ...keys.many.keys])
        return inner.updateTogether(keys, step)
      },
    }
  }

  it('does not resend a rejected notification if writing its dead letter fails once', async () => {
    const post = createScriptedChannel()
    post.next('a', { kind: 'permanent', reason: 'HTTP 400' })
    const store = await failingOnce((key) => key.startsWith('alerts:dead:'))
    const fixture = await open({ channels: [post.channel], store, retry: { ...shortRetryPlan, holdMs: 400 } })
    await fixture.notify(fire('e'))
    expect(await ended(fixture, 1)).toEqual(['a fire e dead HTTP 400'])
    await new Promise((resolve) => setTimeout(resolve, 600))
    expect(post.tried).toEqual(['a fire e'])
    expect((await fixture.delivery.handlers.deadLetters({ limit: 10 }, testServiceCall)).letters).toHaveLength(1)
  })

  it('ends notifications for a removed channel despite a store failure', async () => {
    const store = await failingOnce((key) => key === getDeliveryRecordKey('e') && isOpen)
    let isOpen = false
    const gone = { keys: ['gone:a'], isWhole: true, nowMs: Date.now() }
    await store.update(getDeliveryRecordKey('e'), DeliveryRecord, () => ({
      value: openRecord(undefined, reminder, gone),
    }))
    isOpen = true
    const fixture = await open({
      channels: [createScriptedChannel().channel],
      store,
      claims: { atOnce: 10, claimMs: 300 },
    })
    await fixture.notify(reminder)
    expect(await ended(fixture, 1)).toEqual(['a remind e dropped its target is disabled or was deleted'])
    await waitUntil(async () => (await store.outbox.holds([reminder.id])).size === 0)
  })
})
