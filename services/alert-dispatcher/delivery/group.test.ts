import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { waitUntil } from '#shared/bus/conformance/implementations.suite.ts'
import type { SendResult } from '../channels/channel.ts'
import type { Notification } from '../notification.ts'
import { createNotification } from './testing/notification.ts'
import { type DeliveryFixture, testServiceCall, openDeliveryFixture } from './testing/fixture.ts'
import { createScriptedChannel } from './testing/scripted-channel.ts'

const limits = { concurrency: 1, perSecond: 20, burst: 20, groupAfter: 2 }
const down = (index: number, more: Partial<Notification> = {}) =>
  createNotification({
    episode: `e${index}`,
    hostKey: `h${index}`,
    ruleId: 'host-unreachable',
    title: 'Host unreachable',
    value: null,
    ...more,
  })
const up = (index: number) => down(index, { kind: 'recover', sequence: 1 })
const range = (count: number) => Array.from({ length: count }, (_, index) => index)

describe('a group of notifications', () => {
  let opened: AsyncDisposableStack
  beforeEach(() => {
    opened = new AsyncDisposableStack()
  })
  afterEach(() => opened.disposeAsync())
  const open = async (chosen: Parameters<typeof openDeliveryFixture>[0]): Promise<DeliveryFixture> =>
    opened.use(await openDeliveryFixture(chosen))
  const records = (fixture: DeliveryFixture) => fixture.delivery.handlers.deliveries({ limit: 500 }, testServiceCall)
  const recorded = async (fixture: DeliveryFixture, count: number) => {
    await waitUntil(async () => (await records(fixture)).length >= count)
    return records(fixture)
  }
  /** Blocks the first send until the returned function is called. */
  const holdFirst = (post: ReturnType<typeof createScriptedChannel>) => {
    const { promise, resolve } = Promise.withResolvers<SendResult>()
    post.next('a', () => promise)
    return () => resolve({ kind: 'ok' })
  }
  const notifyAll = async (fixture: DeliveryFixture, notifications: readonly Notification[]) => {
    for (const notification of notifications) await fixture.notify(notification)
  }

  it('names each condition in one message and records each delivery', async () => {
    const post = createScriptedChannel({ limits })
    const release = holdFirst(post)
    const fixture = await open({ channels: [post.channel] })
    await notifyAll(
      fixture,
      range(10).map((index) => down(index)),
    )
    await waitUntil(() => post.tried.length === 1)
    release()
    const ends = await recorded(fixture, 10)
    expect(ends.map(({ episode, result, attempts }) => `${episode} ${result} ${attempts}`).toSorted()).toEqual(
      range(10).map((index) => `e${index} sent 1`),
    )
    expect(post.messages.map(({ headline }) => headline)).toEqual([
      'WARNING: Host unreachable on h0',
      'WARNING: Host unreachable on h1',
      'WARNING: Host unreachable on 8 hosts',
    ])
    expect(post.messages[2]?.gathered).toEqual(range(8).map((index) => `h${index + 2}`))
    expect(ends.filter(({ reason }) => reason === 'sent in one message with 7 other notifications')).toHaveLength(8)
  })

  it('sends each recovery once, grouped or alone', async () => {
    const post = createScriptedChannel({ limits })
    const release = holdFirst(post)
    const fixture = await open({ channels: [post.channel] })
    await notifyAll(
      fixture,
      range(6).map((index) => down(index)),
    )
    await waitUntil(() => post.tried.length === 1)
    release()
    await recorded(fixture, 6)
    const releaseEnds = holdFirst(post)
    await notifyAll(
      fixture,
      range(6).map((index) => up(index)),
    )
    await waitUntil(() => post.tried.length === 4)
    releaseEnds()
    await recorded(fixture, 12)
    const ends = post.messages.slice(3)
    expect(ends.map(({ headline }) => headline)).toEqual([
      'RECOVERED: Host unreachable on h0',
      'RECOVERED: Host unreachable on h1',
      'RECOVERED: Host unreachable on 4 hosts',
    ])
    expect(ends.every(({ isOver }) => isOver)).toBe(true)
  })

  it('omits conditions that recovered while waiting', async () => {
    const post = createScriptedChannel({ limits })
    const release = holdFirst(post)
    const fixture = await open({ channels: [post.channel] })
    await notifyAll(
      fixture,
      range(5).map((index) => down(index)),
    )
    await waitUntil(() => post.tried.length === 1)
    await fixture.notify(up(3))
    await new Promise((resolve) => setTimeout(resolve, 100))
    release()
    await recorded(fixture, 6)
    expect(post.messages.flatMap(({ members }) => members.map(({ episode }) => episode))).not.toContain('e3')
    expect(post.notified.filter((line) => line.includes('recover'))).toEqual([])
  })

  it('is sent one by one if the target rejects it', async () => {
    const post = createScriptedChannel({ limits })
    const release = holdFirst(post)
    post.next('a', { kind: 'ok' }, { kind: 'permanent', reason: 'HTTP 413' })
    const fixture = await open({ channels: [post.channel] })
    await notifyAll(
      fixture,
      range(6).map((index) => down(index)),
    )
    await waitUntil(() => post.tried.length === 1)
    release()
    const ends = await recorded(fixture, 6)
    expect(ends.map(({ result }) => result)).toEqual(Array.from({ length: 6 }, () => 'sent'))
    expect(post.notified.toSorted()).toEqual(range(6).map((index) => `a fire e${index}`))
  })

  it('is retried after a failure, and recoveries are sent if it may have arrived', async () => {
    const post = createScriptedChannel({ limits: { ...limits, groupAfter: 1 } })
    const release = holdFirst(post)
    post.next('a', { kind: 'retry', reason: 'did not answer in time', mayHaveArrived: true })
    const fixture = await open({ channels: [post.channel] })
    await notifyAll(
      fixture,
      range(3).map((index) => down(index)),
    )
    await waitUntil(() => post.tried.length === 1)
    release()
    await waitUntil(() => post.tried.length === 2)
    await fixture.notify(up(1), up(2))
    await waitUntil(() => post.messages.some(({ isOver }) => isOver))
    const ended = post.messages
      .filter(({ isOver }) => isOver)
      .flatMap(({ notification, members }) => [notification, ...members])
    expect(ended.map(({ episode }) => episode).filter((episode) => episode !== 'e0')).not.toEqual([])
  })

  it('is never used for channels that need one message per condition', async () => {
    const pager = createScriptedChannel({ id: 'pager', limits: { concurrency: 1, perSecond: 1_000, burst: 1_000 } })
    const rings = createScriptedChannel({ id: 'rings', limits })
    const fixture = await open({
      channels: [
        pager.channel,
        {
          ...rings.channel,
          targets: (...given) =>
            rings.channel.targets(...given).map((target) => ({ ...target, needsOwnMessage: () => true })),
        },
      ],
    })
    await notifyAll(
      fixture,
      range(12).map((index) => down(index)),
    )
    await recorded(fixture, 24)
    expect(pager.notified).toHaveLength(12)
    expect(rings.notified).toHaveLength(12)
  })
})
