import { expect, it, onTestFinished } from 'vitest'
import { until } from '#shared/bus/conformance/implementations.suite.ts'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { ageMs } from '#shared/time/clock.ts'
import type { SendResult } from '../channels/channel.ts'
import { memoryDeliveries } from './deliveries.ts'
import { openingOf } from './recipients.ts'
import { noticeOf } from './testing/notice.ts'
import { Pace, paceKey } from './pace.ts'
import { briefRetry, call, openPlace } from './testing/place.ts'
import { scripted } from './testing/scripted.ts'

const hourMs = 3_600_000
const retry: SendResult = { kind: 'retry', reason: 'answered 503' }

const jumps = [
  ['forwards', hourMs],
  ['back', -hourMs],
] as const

it.each(jumps)(
  'gives a notice its whole life when the clock is set %s before anything is sent',
  async (_direction, jumpMs) => {
    const wall = { aheadMs: 0 }
    const clock = { now: () => Date.now() + wall.aheadMs, elapsedMs: () => performance.now() }
    await using store = await openStore({ env: {}, busIsShared: false })
    const { nowMs } = await openingOf(
      { store, clock, deliveries: memoryDeliveries() },
      noticeOf({}),
      undefined,
      () => [],
    )
    wall.aheadMs += jumpMs
    expect(Math.abs(ageMs(clock, nowMs))).toBeLessThan(60_000)
  },
)

it.each(jumps)('repeats a send that failed also when the clock was set %s meanwhile', async (_direction, jumpMs) => {
  const wall = { aheadMs: 0 }
  const pacedBy = { now: () => Date.now() + wall.aheadMs, elapsedMs: () => performance.now() }
  const post = scripted({ targets: ['a'] })
  post.next('a', async () => {
    wall.aheadMs += jumpMs
    return retry
  })
  const place = await openPlace({ channels: [post.channel], pacedBy })
  onTestFinished(() => place[Symbol.asyncDispose]())
  await place.tell(noticeOf({ episode: 'e' }))
  const ends = () => place.delivery.handlers.deliveries({ limit: 10 }, call)
  await until(async () => (await ends()).length > 0)
  expect(await ends()).toMatchObject([{ episode: 'e', target: 'a', result: 'sent', attempts: 2 }])
})

it('tries a target that rests again, also when the clock was set back meanwhile', async () => {
  const wall = { aheadMs: 0 }
  const pacedBy = { now: () => Date.now() + wall.aheadMs, elapsedMs: () => performance.now() }
  const post = scripted({ targets: ['a'] })
  post.next('a', retry)
  const place = await openPlace({ channels: [post.channel], pacedBy, retry: { ...briefRetry, waitsMs: [300] } })
  onTestFinished(() => place[Symbol.asyncDispose]())
  await place.tell(noticeOf({ episode: 'e' }))
  await until(async () => ((await place.store.get(paceKey('post', 'a'), Pace))?.failures ?? 0) > 0)
  wall.aheadMs -= 120_000
  await until(() => post.told.length > 0)
  expect(post.told).toEqual(['a fire e'])
})

it('lets a target rest no longer when the clock is set back right after that was written', async () => {
  const wall = { aheadMs: 0 }
  const pacedBy = { now: () => Date.now() + wall.aheadMs, elapsedMs: () => performance.now() }
  const post = scripted({ targets: ['a'] })
  post.next('a', retry)
  await using inner = await openStore({ env: {}, busIsShared: false })
  const store: Store = {
    ...inner,
    async updateTogether(keys, step) {
      const isWritten = await inner.updateTogether(keys, step)
      // The second write is the end of the first send.
      if (post.tried.length === 1 && wall.aheadMs === 0) wall.aheadMs -= 600_000
      return isWritten
    },
  }
  const place = await openPlace({ channels: [post.channel], pacedBy, store })
  onTestFinished(() => place[Symbol.asyncDispose]())
  await place.tell(noticeOf({ episode: 'e' }))
  await until(() => post.told.length > 0)
  expect(post.tried).toEqual(['a fire e', 'a fire e'])
})
