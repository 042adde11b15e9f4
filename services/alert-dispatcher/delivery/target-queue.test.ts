import { afterEach, expect, it, vi } from 'vitest'
import type { TargetLimits } from '../channels/channel.ts'
import type { Notification } from '../notification.ts'
import type { PendingDelivery } from './delivery-deps.ts'
import {
  type DeliveryBatch,
  type DeliveryBatchResult,
  type TargetQueue,
  maxQueuedDeliveries,
  openTargetQueue,
} from './target-queue.ts'
import { createNotification } from './testing/notification.ts'

const nowMs = 1_000_000
const slow: TargetLimits = { concurrency: 1, perSecond: 1, burst: 1, groupAfter: 3 }
const queued = (episode: string, more: Partial<Notification> = {}, sinceMs = nowMs): PendingDelivery => {
  const notification = createNotification({ episode, ...more })
  const message = { id: notification.id, notifications: new Set<PendingDelivery>(), comesAgain: false }
  const opening = { keys: [], isWhole: true, nowMs }
  return { message, notification, channel: 'post', target: 'a', opening, recordState: { isStored: false }, sinceMs }
}

const open: TargetQueue[] = []
afterEach(() => Promise.all(open.splice(0).map((queue) => queue[Symbol.asyncDispose]())))

const others = (batches: readonly { batch: DeliveryBatch }[]) =>
  batches[0]?.batch.others.map((each) => each.delivery.notification.episode)

const lease = () => new Promise((resolve) => setImmediate(resolve))

/** Opens a queue whose batches wait for a result from the test. */
const held = (limits: TargetLimits = slow) => {
  const batches: { batch: DeliveryBatch; end: (served: DeliveryBatchResult) => void }[] = []
  const left: string[] = []
  let readings = 0
  const serve = (batch: DeliveryBatch) =>
    new Promise<DeliveryBatchResult>((resolve) => batches.push({ batch, end: resolve }))
  const queue = openTargetQueue({
    limits,
    serve,
    // Each read advances the clock.
    nowMs: () => nowMs + (readings += 1),
    sinceMs: ({ sinceMs }) => sinceMs,
    isOver: ({ notification }) => notification.title === 'too old',
    leave: ({ notification: { episode } }, why) => left.push(`${episode} ${why}`),
    failed: () => {},
  })
  open.push({
    size: 0,
    add: () => false,
    async [Symbol.asyncDispose]() {
      const disposing = queue[Symbol.asyncDispose]()
      for (const { end } of batches.splice(0)) end({ ended: new Set() })
      await disposing
    },
  })
  const sendNext = async () => {
    const next = batches.shift()
    if (!next) throw new Error('no batch is in progress')
    next.end({ ended: new Set([next.batch.lead]) })
    await lease()
    return next.batch.lead.delivery.notification.episode
  }
  return { queue, batches, left, sendNext }
}

it('keeps the place of a delivery that is queued again, among others of the same age', async () => {
  const { queue, batches, sendNext } = held({ ...slow, groupAfter: undefined })
  for (const episode of ['a', 'b', 'c']) queue.add(queued(episode))
  batches.shift()?.end({ ended: new Set() })
  await lease()
  expect([await sendNext(), await sendNext(), await sendNext()]).toEqual(['a', 'b', 'c'])
})

it('sends critical, warnings, recoveries and reminders in this order', async () => {
  const { queue, sendNext } = held()
  queue.add(queued('first'))
  queue.add(queued('reminder', { kind: 'remind', sequence: 1 }))
  queue.add(queued('recovery', { kind: 'recover', sequence: 1, severity: 'critical' }))
  queue.add(queued('warning'))
  queue.add(queued('warning-later', {}, nowMs + 1))
  queue.add(queued('critical', { severity: 'critical' }, nowMs + 2))
  const order: string[] = []
  for (let sent = 0; sent < 6; sent += 1) order.push(await sendNext())
  expect(order).toEqual(['first', 'critical', 'warning', 'warning-later', 'recovery', 'reminder'])
})

it('serves a critical notification at once to reserve the next slot', async () => {
  const { queue, batches } = held()
  queue.add(queued('warning'))
  batches.shift()?.end({ ended: new Set(), waits: { for: 'target', againInMs: 60_000 } })
  await new Promise((resolve) => setImmediate(resolve))
  expect(batches).toEqual([])
  queue.add(queued('critical', { severity: 'critical' }))
  expect(batches[0]?.batch.lead.delivery.notification.episode).toBe('critical')
})

it('does not overtake notifications after five minutes', async () => {
  const { queue, sendNext } = held()
  queue.add(queued('first'))
  queue.add(queued('critical', { severity: 'critical' }))
  queue.add(queued('old', { kind: 'remind' }, nowMs - 300_000))
  expect([await sendNext(), await sendNext(), await sendNext()]).toEqual(['first', 'old', 'critical'])
})

it('groups the same rule, severity and phase', async () => {
  const { queue, batches, sendNext } = held()
  queue.add(queued('first', { severity: 'critical' }))
  for (const [episode, more] of [
    ['a', {}],
    ['b', {}],
    ['critical', { severity: 'critical' }],
    ['over', { kind: 'recover' }],
    ['other', { ruleId: 'parts' }],
  ] as const)
    queue.add(queued(episode, more))
  await sendNext()
  expect(others(batches)).toEqual([])
  await sendNext()
  expect(others(batches)).toEqual(['b'])
})

it('groups all rules if too many rules wait', async () => {
  const { queue, batches, sendNext } = held()
  queue.add(queued('first'))
  for (let rule = 0; rule < 10; rule += 1) queue.add(queued(`e${rule}`, { ruleId: `rule-${rule}` }))
  queue.add(queued('over', { kind: 'recover' }))
  await sendNext()
  expect(batches[0]?.batch.group?.isBacklog).toBe(true)
  expect(others(batches)).toEqual(Array.from({ length: 9 }, (_, index) => `e${index + 1}`))
})

it('releases the least urgent one if it is full, and accepts nothing once closed', async () => {
  const { queue, left } = held()
  queue.add(queued('first', { severity: 'critical' }))
  for (let index = 0; index < maxQueuedDeliveries; index += 1)
    expect(queue.add(queued(`w${index}`, {}, nowMs + index))).toBe(true)
  expect(queue.add(queued('critical', { severity: 'critical' }))).toBe(true)
  expect(left).toEqual([`w${maxQueuedDeliveries - 1} no-room`])
  expect(queue.add(queued('reminder', { kind: 'remind', sequence: 1 }))).toBe(false)
  expect(queue.size).toBe(maxQueuedDeliveries + 1)
  void queue[Symbol.asyncDispose]()
  expect(queue.add(queued('late'))).toBe(false)
})

it('keeps the queue while its target pauses, and ends expired deliveries', async () => {
  const { queue, batches, left } = held()
  queue.add(queued('first', {}, nowMs - 1))
  queue.add(queued('old', { title: 'too old' }))
  queue.add(queued('other'))
  batches.shift()?.end({ ended: new Set(), waits: { for: 'rest', againInMs: 400 } })
  await lease()
  expect([batches, left]).toEqual([[], ['old over']])
  await vi.waitUntil(() => batches.length > 0)
  expect(batches[0]?.batch.lead.delivery.notification.episode).toBe('first')
})

it('retries a failed delivery after its wait and sends others meanwhile', async () => {
  const { queue, batches, sendNext } = held()
  queue.add(queued('failed'))
  queue.add(queued('other'))
  const [first] = batches.splice(0)
  if (first) first.end({ ended: new Set(), againInMs: new Map([[first.batch.lead, 400]]) })
  await lease()
  expect(await sendNext()).toBe('other')
  expect(batches).toEqual([])
  await vi.waitUntil(() => batches.length > 0)
  expect(await sendNext()).toBe('failed')
})

it('serves one batch of a group at a time, without deliveries of other batches', async () => {
  const { queue, batches } = held({ ...slow, concurrency: 2, perSecond: 0.1 })
  for (const episode of ['a', 'b', 'c', 'd']) queue.add(queued(episode))
  const [one] = batches
  expect(batches).toHaveLength(1)
  expect(one?.batch.claim(new Set())).toEqual([])
  await lease()
  const two = batches[1]
  expect(others(batches.slice(1))).toEqual(['c', 'd'])
  const [c, d] = two?.batch.others ?? []
  if (!one || !two || !c || !d) throw new Error('two batches must be in progress')
  const claimed = two.batch.claim(new Set([d, one.batch.lead]))
  expect(claimed).toEqual([d])
  one.end({ ended: new Set([one.batch.lead]) })
  two.end({ ended: new Set([two.batch.lead, d]) })
  await lease()
  const three = batches[2]
  expect(three?.batch.lead).toBe(c)
  three?.end({ ended: new Set([c]) })
  await lease()
  expect(queue.size).toBe(0)
})
