import { afterEach, expect, it } from 'vitest'
import type { Notice, Queued } from '../notice.ts'
import type { TargetLimits } from '../channels/channel.ts'
import { type Batch, type Served, type TargetQueue, maxWaiting, openTargetQueue } from './target-queue.ts'
import { noticeOf } from './testing/notice.ts'

const nowMs = 1_000_000
const slow: TargetLimits = { concurrency: 1, perSecond: 1, burst: 1, groupAfter: 3 }
const queued = (episode: string, more: Partial<Notice> = {}, queuedAtMs = nowMs): Queued => ({
  notice: noticeOf({ episode, ...more }),
  channel: 'post',
  target: 'a',
  queuedAtMs,
})

const open: TargetQueue<string>[] = []
afterEach(() => open.splice(0).forEach((queue) => queue[Symbol.dispose]()))

const others = (batches: readonly { batch: Batch }[]) =>
  batches[0]?.batch.others.map((each) => each.queued.notice.episode)

/** A queue whose batches wait until the test says what came of them. */
const held = (limits: TargetLimits = slow) => {
  const batches: { batch: Batch; end: (served: Served<string>) => void }[] = []
  const serve = (batch: Batch) => new Promise<Served<string>>((resolve) => batches.push({ batch, end: resolve }))
  const queue = openTargetQueue<string>({ limits, serve, ageMs: ({ queuedAtMs }) => nowMs - queuedAtMs })
  open.push(queue)
  const sendNext = async () => {
    const next = batches.shift()
    if (!next) throw new Error('nothing is being sent')
    next.end({ ended: new Map([[next.batch.lead, 'sent']]) })
    await new Promise((resolve) => setImmediate(resolve))
    return next.batch.lead.queued.notice.episode
  }
  return { queue, batches, sendNext }
}

it('sends critical before warning before recovery before reminder, and each in its order', async () => {
  const { queue, sendNext } = held()
  void queue.add(queued('first'), false)
  void queue.add(queued('reminder', { kind: 'remind', sequence: 1 }), false)
  void queue.add(queued('recovery', { kind: 'recover', sequence: 1, severity: 'critical' }), false)
  void queue.add(queued('warning'), false)
  void queue.add(queued('warning-later', {}, nowMs + 1), false)
  void queue.add(queued('critical', { severity: 'critical' }, nowMs + 2), false)
  const order: string[] = []
  for (let sent = 0; sent < 6; sent += 1) order.push(await sendNext())
  expect(order).toEqual(['first', 'critical', 'warning', 'warning-later', 'recovery', 'reminder'])
})

it('asks for a critical notice at once though the target takes nothing yet, so that it reserves the next slot', async () => {
  const { queue, batches } = held()
  void queue.add(queued('warning'), false)
  batches.shift()?.end({ ended: new Map(), waits: { for: 'target', againInMs: 60_000 } })
  await new Promise((resolve) => setImmediate(resolve))
  expect(batches).toEqual([])
  void queue.add(queued('critical', { severity: 'critical' }), false)
  expect(batches[0]?.batch.lead.queued.notice.episode).toBe('critical')
})

it('lets nothing be overtaken that has waited for five minutes', async () => {
  const { queue, sendNext } = held()
  void queue.add(queued('first'), false)
  void queue.add(queued('critical', { severity: 'critical' }), false)
  void queue.add(queued('old', { kind: 'remind' }, nowMs - 300_000), false)
  expect([await sendNext(), await sendNext(), await sendNext()]).toEqual(['first', 'old', 'critical'])
})

it('offers for a group those of the same rule, severity and phase', async () => {
  const { queue, batches, sendNext } = held()
  void queue.add(queued('first', { severity: 'critical' }), false)
  for (const [episode, more] of [
    ['a', {}],
    ['b', {}],
    ['critical', { severity: 'critical' }],
    ['over', { kind: 'recover' }],
    ['other', { ruleId: 'parts' }],
  ] as const)
    void queue.add(queued(episode, more), false)
  await sendNext()
  expect(others(batches)).toEqual([])
  await sendNext()
  expect(others(batches)).toEqual(['b'])
})

it('offers those of any rule where too many rules wait', async () => {
  const { queue, batches, sendNext } = held()
  void queue.add(queued('first'), false)
  for (let rule = 0; rule < 10; rule += 1) void queue.add(queued(`e${rule}`, { ruleId: `rule-${rule}` }), false)
  void queue.add(queued('over', { kind: 'recover' }), false)
  await sendNext()
  expect(batches[0]?.batch.group?.isBacklog).toBe(true)
  expect(others(batches)).toEqual(Array.from({ length: 9 }, (_, index) => `e${index + 1}`))
})

it('puts the least urgent back when too many wait, and all when the target rests or the queue is closed', async () => {
  const { queue, batches } = held()
  void queue.add(queued('first', { severity: 'critical' }), false)
  const waiting = Array.from({ length: maxWaiting }, (_, index) =>
    queue.add(queued(`w${index}`, {}, nowMs + index), false),
  )
  const critical = queue.add(queued('critical', { severity: 'critical' }), false)
  expect(await waiting.at(-1)).toEqual({ againInMs: expect.any(Number) })
  expect(queue.size).toBe(maxWaiting + 1)
  const [first] = batches
  first?.end({ ended: new Map([[first.batch.lead, 'failed']]), waits: { for: 'rest', againInMs: 40 } })
  expect(await critical).toEqual({ againInMs: expect.any(Number) })
  await Promise.all(waiting)
  expect(await queue.add(queued('new'), false)).toEqual({ againInMs: expect.any(Number) })
  queue[Symbol.dispose]()
  expect(await queue.add(queued('late'), false)).toEqual({ againInMs: 1_000 })
})

it('lets a critical notice return from a target that rests without the others', async () => {
  const { queue, batches } = held()
  const added = Array.from({ length: 200 }, (_, index) => queue.add(queued(`w${index}`), false))
  batches.shift()?.end({ ended: new Map(), waits: { for: 'rest', againInMs: 10_000 } })
  const times = (await Promise.all(added)).map((end) => (typeof end === 'string' ? 0 : end.againInMs))
  expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(400)
  const critical = await queue.add(queued('c', { severity: 'critical' }), false)
  expect(critical).toMatchObject({ againInMs: expect.closeTo(10_000, -3) })
})

it('lets one batch of a group at a time ask for the right to send, and claims what no other batch has', async () => {
  const { queue, batches } = held({ ...slow, concurrency: 2, perSecond: 0.1 })
  const ends = ['a', 'b', 'c', 'd'].map((episode) => queue.add(queued(episode), false))
  const [one] = batches
  expect(batches).toHaveLength(1)
  expect(one?.batch.claim(new Set())).toEqual([])
  await new Promise((resolve) => setImmediate(resolve))
  const two = batches[1]
  expect(others(batches.slice(1))).toEqual(['c', 'd'])
  const claimed = two?.batch.claim(new Set(['a', 'd'])) ?? []
  expect(claimed.map((each) => each.queued.notice.episode)).toEqual(['d'])
  if (one) one.end({ ended: new Map([[one.batch.lead, 'sent']]) })
  if (two) two.end({ ended: new Map([two.batch.lead, ...claimed].map((each) => [each, 'sent'])) })
  await new Promise((resolve) => setImmediate(resolve))
  const three = batches[2]
  if (three) three.end({ ended: new Map([[three.batch.lead, 'sent']]) })
  expect(await Promise.all(ends)).toEqual(['sent', 'sent', 'sent', 'sent'])
})
