import { expect, it, onTestFinished } from 'vitest'
import { waitUntil } from '#shared/bus/conformance/implementations.suite.ts'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { computeAgeMs } from '#shared/time/clock.ts'
import type { SendResult } from '../channels/channel.ts'
import { createMemoryDeliveries } from './deliveries.ts'
import { resolveRecipients } from './recipients.ts'
import { createNotification } from './testing/notification.ts'
import { TargetRateLimit, getRateLimitKey } from './rate-limit.ts'
import { shortRetryPlan, testServiceCall, openDeliveryFixture } from './testing/fixture.ts'
import { createScriptedChannel } from './testing/scripted-channel.ts'

const hourMs = 3_600_000
const retry: SendResult = { kind: 'retry', reason: 'HTTP 503' }

const jumps = [
  ['forwards', hourMs],
  ['back', -hourMs],
] as const

it.each(jumps)(
  'keeps the lifetime of a notification when the clock is set %s before the first send',
  async (_direction, jumpMs) => {
    const wall = { aheadMs: 0 }
    const clock = { now: () => Date.now() + wall.aheadMs, elapsedMs: () => performance.now() }
    await using store = await openStore({ env: {}, busIsShared: false })
    const { nowMs } = await resolveRecipients(
      { store, clock, deliveries: createMemoryDeliveries() },
      createNotification({}),
      undefined,
      () => [],
    )
    wall.aheadMs += jumpMs
    expect(Math.abs(computeAgeMs(clock, nowMs))).toBeLessThan(60_000)
  },
)

it.each(jumps)('retries a failed send when the clock was set %s meanwhile', async (_direction, jumpMs) => {
  const wall = { aheadMs: 0 }
  const rateLimitClock = { now: () => Date.now() + wall.aheadMs, elapsedMs: () => performance.now() }
  const post = createScriptedChannel({ targets: ['a'] })
  post.next('a', async () => {
    wall.aheadMs += jumpMs
    return retry
  })
  const fixture = await openDeliveryFixture({ channels: [post.channel], rateLimitClock })
  onTestFinished(() => fixture[Symbol.asyncDispose]())
  await fixture.notify(createNotification({ episode: 'e' }))
  const ends = () => fixture.delivery.handlers.deliveries({ limit: 10 }, testServiceCall)
  await waitUntil(async () => (await ends()).length > 0)
  expect(await ends()).toMatchObject([{ episode: 'e', target: 'a', result: 'sent', attempts: 2 }])
})

it('retries a paused target when the clock was set back meanwhile', async () => {
  const wall = { aheadMs: 0 }
  const rateLimitClock = { now: () => Date.now() + wall.aheadMs, elapsedMs: () => performance.now() }
  const post = createScriptedChannel({ targets: ['a'] })
  post.next('a', retry)
  const fixture = await openDeliveryFixture({
    channels: [post.channel],
    rateLimitClock,
    retry: { ...shortRetryPlan, waitsMs: [300] },
  })
  onTestFinished(() => fixture[Symbol.asyncDispose]())
  await fixture.notify(createNotification({ episode: 'e' }))
  await waitUntil(
    async () => ((await fixture.store.get(getRateLimitKey('post', 'a'), TargetRateLimit))?.failures ?? 0) > 0,
  )
  wall.aheadMs -= 120_000
  await waitUntil(() => post.notified.length > 0)
  expect(post.notified).toEqual(['a fire e'])
})

it('does not extend the pause of a target when the clock is set back after it was stored', async () => {
  const wall = { aheadMs: 0 }
  const rateLimitClock = { now: () => Date.now() + wall.aheadMs, elapsedMs: () => performance.now() }
  const post = createScriptedChannel({ targets: ['a'] })
  post.next('a', retry)
  await using inner = await openStore({ env: {}, busIsShared: false })
  const store: Store = {
    ...inner,
    async updateTogether(keys, step) {
      const isWritten = await inner.updateTogether(keys, step)
      // This write records the result of the first send. After it, the clock is set back by ten minutes.
      if (post.tried.length === 1 && wall.aheadMs === 0) wall.aheadMs -= 600_000
      return isWritten
    },
  }
  const fixture = await openDeliveryFixture({ channels: [post.channel], rateLimitClock, store })
  onTestFinished(() => fixture[Symbol.asyncDispose]())
  await fixture.notify(createNotification({ episode: 'e' }))
  await waitUntil(() => post.notified.length > 0)
  expect(post.tried).toEqual(['a fire e', 'a fire e'])
})
