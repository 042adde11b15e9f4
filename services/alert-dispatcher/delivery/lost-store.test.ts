import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { until } from '#shared/bus/conformance/implementations.suite.ts'
import { openStore } from '#shared/store/open.ts'
import { systemClock } from '#shared/time/clock.ts'
import type { SendResult } from '../channels/channel.ts'
import { type Notice, asMessage } from '../notice.ts'
import { memoryDeliveries } from './deliveries.ts'
import { openingOf } from './recipients.ts'
import { open as openRecord, recordKey } from './record.ts'
import { noticeOf } from './testing/notice.ts'
import { type Place, briefRetry, call, openPlace } from './testing/place.ts'
import { scripted } from './testing/scripted.ts'

const fire = (episode: string, more: Partial<Notice> = {}) => noticeOf({ episode, ...more })
const later = (kind: Notice['kind'], episode: string, sequence: number) => noticeOf({ kind, episode, sequence })
const retry: SendResult = { kind: 'retry', reason: 'answered 503' }

describe('a store that lost what it held', () => {
  let opened: AsyncDisposableStack
  beforeEach(() => {
    opened = new AsyncDisposableStack()
  })
  afterEach(() => opened.disposeAsync())
  const open = async (chosen: Parameters<typeof openPlace>[0]): Promise<Place> => opened.use(await openPlace(chosen))
  const ended = async (place: Place, count: number) => {
    await until(async () => (await place.delivery.handlers.deliveries({ limit: 500 }, call)).length >= count)
  }

  it('sends a last notice again to those that have it not on record, once the store lost all it held', async () => {
    const post = scripted({ targets: ['a', 'b'] })
    post.always('b', retry)
    const inDatabase = await open({ channels: [post.channel] })
    await inDatabase.tell(fire('e'))
    await ended(inDatabase, 1)
    const again = { isAgain: true }
    expect(await inDatabase.delivery.isMissed(fire('e', again))).toBe(true)
    expect(await inDatabase.delivery.isMissed(later('recover', 'never', 1))).toBe(false)
    // What the store held is gone, and the process still has the notice before the other target.
    const [id] = [noticeOf({ episode: 'e' }).id]
    await inDatabase.store.outbox.ack([id])
    await inDatabase.store.update(recordKey('e'), z.unknown(), () => ({ value: undefined }))
    expect(await inDatabase.delivery.isMissed(later('recover', 'e', 1))).toBe(true)
    post.always('b', undefined)
    await inDatabase.tell(fire('e', again))
    await until(() => post.told.includes('b fire e'))
    await until(async () => !(await inDatabase.delivery.isMissed(fire('e', again))))
    await inDatabase.tell(later('recover', 'e', 1))
    await ended(inDatabase, 4)
    expect(post.told.toSorted()).toEqual(['a fire e', 'a recover e', 'b fire e', 'b recover e'])
  })

  it('sends nothing that the outbox holds no more', async () => {
    const post = scripted()
    post.next('a', retry)
    const place = await open({ channels: [post.channel], retry: { ...briefRetry, waitsMs: [200] } })
    await place.tell(fire('e'))
    await until(() => post.tried.length === 1)
    await place.store.outbox.ack([noticeOf({ episode: 'e' }).id])
    await place.tell(fire('other'))
    await ended(place, 1)
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(post.tried).toEqual(['a fire e', 'a fire other'])
  })

  /** As a store that came back empty: neither the message nor the record is there. */
  const lose = async ({ store }: Place, ...notices: readonly Notice[]) => {
    await store.outbox.ack(notices.map(({ id }) => id))
    for (const { episode } of notices) await store.update(recordKey(episode), z.unknown(), () => ({ value: undefined }))
  }

  /** A history in which target a took the fire. */
  const whereTaken = async () => {
    const deliveries = memoryDeliveries()
    const { kind, ruleId, hostKey, severity } = fire('e')
    const of = { episode: 'e', sequence: 0, kind, ruleId, hostKey, severity, channel: 'post', target: 'a' }
    await deliveries.put([{ ...of, id: 'e:0', atMs: 1, result: 'sent', reason: null, attempts: 1 }])
    return deliveries
  }

  it('ends what targets took before, though the recovery is decided while the fire waits again', async () => {
    const store = opened.use(await openStore({ env: {}, busIsShared: false }))
    await store.update('state', z.number(), () => ({ value: 1, outbox: [asMessage(fire('e', { isAgain: true }))] }))
    const deliveries = await whereTaken()
    const opening = await openingOf(
      { store, deliveries, clock: systemClock },
      later('recover', 'e', 1),
      undefined,
      () => [],
    )
    expect(opening).toMatchObject({ keys: ['post:a'], told: [{ key: 'post:a', sequence: 0 }], isWhole: false })
  })

  it('sends an end that is made again also to those that the record does not name', async () => {
    const store = opened.use(await openStore({ env: {}, busIsShared: false }))
    const end = later('recover', 'e', 1)
    const record = openRecord(undefined, end, { keys: ['post:b'], isWhole: true, nowMs: 1 })
    const delivering = { store, deliveries: await whereTaken(), clock: systemClock }
    const opening = await openingOf(delivering, { ...end, isAgain: true }, record, () => [])
    expect(opening.keys.toSorted()).toEqual(['post:a', 'post:b'])
  })

  it('forgets a recovery whose record is lost, and opens it anew by what is on record', async () => {
    const post = scripted({ targets: ['a', 'b'] })
    const place = await open({ channels: [post.channel], claims: { atOnce: 10, claimMs: 300 } })
    await place.tell(fire('e'))
    await ended(place, 2)
    post.always('b', retry)
    const end = later('recover', 'e', 1)
    await place.tell(end)
    await ended(place, 3)
    // The outbox holds it again, as another process has made it again.
    await place.store.update(recordKey('e'), z.unknown(), () => ({ value: undefined }))
    post.always('b', undefined)
    await until(() => post.told.includes('b recover e'))
    expect(post.told.filter((told) => told === 'a recover e')).toHaveLength(1)
  })

  it('keeps no half of a record that was lost while a send was under way', async () => {
    const post = scripted({ targets: ['a', 'b'] })
    const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const place = await open({ channels: [post.channel] })
    await place.tell(fire('e'))
    await ended(place, 2)
    post.always('b', retry)
    post.next('a', async () => {
      arrived.resolve()
      await released.promise
      return { kind: 'ok' }
    })
    const end = later('recover', 'e', 1)
    await place.tell(end)
    await arrived.promise
    await until(() => post.tried.includes('b recover e'))
    await lose(place, end)
    released.resolve()
    await ended(place, 3)
    expect(await place.delivery.isMissed({ ...end, isAgain: true })).toBe(true)
  })
})
