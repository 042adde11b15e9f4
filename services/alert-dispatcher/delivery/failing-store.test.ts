import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { until } from '#shared/bus/conformance/implementations.suite.ts'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { DeliveryRecord, open as openRecord, recordKey } from './record.ts'
import { noticeOf } from './testing/notice.ts'
import { type Place, briefRetry, call, openPlace } from './testing/place.ts'
import { scripted } from './testing/scripted.ts'

const fire = (episode: string) => noticeOf({ episode })
const recovery = (episode: string) => noticeOf({ kind: 'recover', episode, sequence: 1 })
const reminder = noticeOf({ kind: 'remind', episode: 'e', sequence: 1 })

describe('delivery', () => {
  let opened: AsyncDisposableStack
  beforeEach(() => {
    opened = new AsyncDisposableStack()
  })
  afterEach(() => opened.disposeAsync())
  const open = async (chosen: Parameters<typeof openPlace>[0]): Promise<Place> => opened.use(await openPlace(chosen))
  const ended = async (place: Place, count: number) => {
    const ends = () => place.delivery.handlers.deliveries({ limit: 500 }, call)
    await until(async () => (await ends()).length >= count)
    return (await ends())
      .map(({ target, kind, episode, result, reason }) =>
        [target, kind, episode, result, reason ?? ''].join(' ').trim(),
      )
      .toSorted()
  }

  it('lets a recovery make the fire old that it is claimed with, though their target rests', async () => {
    const post = scripted()
    post.next('a', { kind: 'retry', reason: 'answered 503', afterMs: 1_500 })
    const place = await open({ channels: [post.channel], claims: { atOnce: 10, claimMs: 60_000 } })
    await place.tell(fire('other'))
    await until(() => post.tried.length === 1)
    await place.tell(fire('e'), recovery('e'))
    await until(async () => (await place.store.get(recordKey('e'), DeliveryRecord))?.endedBy === 1)
    expect(await ended(place, 3)).toEqual([
      'a fire e dropped it recovered before it could be told',
      'a fire other sent',
      'a recover e dropped it was never told of what has recovered',
    ])
  })

  /** A store whose next write of what is chosen fails. */
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

  it('sends what was refused no second time because its dead letter could not be written at once', async () => {
    const post = scripted()
    post.next('a', { kind: 'permanent', reason: 'answered 400' })
    const store = await failingOnce((key) => key.startsWith('alerts:dead:'))
    const place = await open({ channels: [post.channel], store, retry: { ...briefRetry, holdMs: 400 } })
    await place.tell(fire('e'))
    expect(await ended(place, 1)).toEqual(['a fire e dead answered 400'])
    await new Promise((resolve) => setTimeout(resolve, 600))
    expect(post.tried).toEqual(['a fire e'])
    expect((await place.delivery.handlers.deadLetters({ limit: 10 }, call)).letters).toHaveLength(1)
  })

  it('ends what was meant for a channel that is gone, though the store fails meanwhile', async () => {
    const store = await failingOnce((key) => key === recordKey('e') && isOpen)
    let isOpen = false
    const gone = { keys: ['gone:a'], isWhole: true, nowMs: Date.now() }
    await store.update(recordKey('e'), DeliveryRecord, () => ({
      value: openRecord(undefined, reminder, gone),
    }))
    isOpen = true
    const place = await open({ channels: [scripted().channel], store, claims: { atOnce: 10, claimMs: 300 } })
    await place.tell(reminder)
    expect(await ended(place, 1)).toEqual(['a remind e dropped its target is switched off or gone'])
    await until(async () => (await store.outbox.holds([reminder.id])).size === 0)
  })
})
