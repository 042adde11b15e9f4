import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '#shared/bus/conformance/implementations.suite.ts'
import type { SendResult } from '../channels/channel.ts'
import type { Notice } from '../notice.ts'
import { noticeOf } from './testing/notice.ts'
import { type Place, call, openPlace } from './testing/place.ts'
import { scripted } from './testing/scripted.ts'

const limits = { concurrency: 1, perSecond: 20, burst: 20, groupAfter: 2 }
const down = (index: number, more: Partial<Notice> = {}) =>
  noticeOf({
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
  const open = async (chosen: Parameters<typeof openPlace>[0]): Promise<Place> => opened.use(await openPlace(chosen))
  const records = (place: Place) => place.delivery.handlers.deliveries({ limit: 500 }, call)
  const recorded = async (place: Place, count: number) => {
    await until(async () => (await records(place)).length >= count)
    return records(place)
  }
  /** The first send takes until the returned function is called. */
  const holdFirst = (post: ReturnType<typeof scripted>) => {
    const { promise, resolve } = Promise.withResolvers<SendResult>()
    post.next('a', () => promise)
    return () => resolve({ kind: 'ok' })
  }
  const tellAll = async (place: Place, notices: readonly Notice[]) => {
    for (const notice of notices) await place.tell(notice)
  }

  it('names each condition in one message, and records each', async () => {
    const post = scripted({ limits })
    const release = holdFirst(post)
    const place = await open({ channels: [post.channel] })
    await tellAll(
      place,
      range(10).map((index) => down(index)),
    )
    await until(() => post.tried.length === 1)
    release()
    const ends = await recorded(place, 10)
    expect(ends.map(({ episode, result, attempts }) => `${episode} ${result} ${attempts}`).toSorted()).toEqual(
      range(10).map((index) => `e${index} sent 1`),
    )
    expect(post.messages.map(({ headline }) => headline)).toEqual([
      'WARNING: Host unreachable on h0',
      'WARNING: Host unreachable on h1',
      'WARNING: Host unreachable on 8 hosts',
    ])
    expect(post.messages[2]?.gathered).toEqual(range(8).map((index) => `h${index + 2}`))
    expect(ends.filter(({ reason }) => reason === 'sent in one message with 7 others')).toHaveLength(8)
  })

  it('ends each condition of it, together or alone, and each once', async () => {
    const post = scripted({ limits })
    const release = holdFirst(post)
    const place = await open({ channels: [post.channel] })
    await tellAll(
      place,
      range(6).map((index) => down(index)),
    )
    await until(() => post.tried.length === 1)
    release()
    await recorded(place, 6)
    const releaseEnds = holdFirst(post)
    await tellAll(
      place,
      range(6).map((index) => up(index)),
    )
    await until(() => post.tried.length === 4)
    releaseEnds()
    await recorded(place, 12)
    const ends = post.messages.slice(3)
    expect(ends.map(({ headline }) => headline)).toEqual([
      'RECOVERED: Host unreachable on h0',
      'RECOVERED: Host unreachable on h1',
      'RECOVERED: Host unreachable on 4 hosts',
    ])
    expect(ends.every(({ isOver }) => isOver)).toBe(true)
  })

  it('leaves out what recovered while it waited', async () => {
    const post = scripted({ limits })
    const release = holdFirst(post)
    const place = await open({ channels: [post.channel] })
    await tellAll(
      place,
      range(5).map((index) => down(index)),
    )
    await until(() => post.tried.length === 1)
    await place.tell(up(3))
    await new Promise((resolve) => setTimeout(resolve, 100))
    release()
    await recorded(place, 6)
    expect(post.messages.flatMap(({ members }) => members.map(({ episode }) => episode))).not.toContain('e3')
    expect(post.told.filter((line) => line.includes('recover'))).toEqual([])
  })

  it('is sent one by one where the target refuses it as a whole', async () => {
    const post = scripted({ limits })
    const release = holdFirst(post)
    post.next('a', { kind: 'ok' }, { kind: 'permanent', reason: 'answered 413' })
    const place = await open({ channels: [post.channel] })
    await tellAll(
      place,
      range(6).map((index) => down(index)),
    )
    await until(() => post.tried.length === 1)
    release()
    const ends = await recorded(place, 6)
    expect(ends.map(({ result }) => result)).toEqual(Array.from({ length: 6 }, () => 'sent'))
    expect(post.told.toSorted()).toEqual(range(6).map((index) => `a fire e${index}`))
  })

  it('is tried again when it failed, and its ends are sent where it may have arrived', async () => {
    const post = scripted({ limits: { ...limits, groupAfter: 1 } })
    const release = holdFirst(post)
    post.next('a', { kind: 'retry', reason: 'did not answer in time', mayHaveArrived: true })
    const place = await open({ channels: [post.channel] })
    await tellAll(
      place,
      range(3).map((index) => down(index)),
    )
    await until(() => post.tried.length === 1)
    release()
    await until(() => post.tried.length === 2)
    await place.tell(up(1), up(2))
    await until(() => post.messages.some(({ isOver }) => isOver))
    const ended = post.messages.filter(({ isOver }) => isOver).flatMap(({ notice, members }) => [notice, ...members])
    expect(ended.map(({ episode }) => episode).filter((episode) => episode !== 'e0')).not.toEqual([])
  })

  it('is never made for a channel whose conditions need messages of their own', async () => {
    const pager = scripted({ id: 'pager', limits: { concurrency: 1, perSecond: 1_000, burst: 1_000 } })
    const rings = scripted({ id: 'rings', limits })
    const place = await open({
      channels: [
        pager.channel,
        {
          ...rings.channel,
          targets: (...given) =>
            rings.channel.targets(...given).map((target) => ({ ...target, needsOwnMessage: () => true })),
        },
      ],
    })
    await tellAll(
      place,
      range(12).map((index) => down(index)),
    )
    await recorded(place, 24)
    expect(pager.told).toHaveLength(12)
    expect(rings.told).toHaveLength(12)
  })
})
