import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { until } from '#shared/bus/conformance/implementations.suite.ts'
import type { SendResult } from '../channels/channel.ts'
import { type Addressed, type Notice, addressedTopic, asMessage, deliveryIdOf } from '../notice.ts'
import type { Route } from '../policy.ts'
import { brokenRule } from './broken.ts'
import { DeliveryRecord, begin, end, open as openRecord, recordKey, targetKey } from './record.ts'
import { noticeOf } from './testing/notice.ts'
import { type Place, briefRetry, call, openPlace } from './testing/place.ts'
import { scripted } from './testing/scripted.ts'

const fire = (episode: string, more: Partial<Notice> = {}) => noticeOf({ episode, ...more })
const later = (kind: Notice['kind'], episode: string, sequence: number, more: Partial<Notice> = {}) =>
  noticeOf({ kind, episode, sequence, ...more })
const retry: SendResult = { kind: 'retry', reason: 'answered 503' }
const longLife = { paging: 60_000, others: 60_000 }

const route = (target: string, more: Partial<Route> = {}): Route => ({
  id: target,
  matchRule: '*',
  matchHost: '*',
  matchGroup: '*',
  matchTag: '*',
  matchSeverity: '*',
  last: false,
  target,
  enabled: true,
  minSeverity: null,
  ...more,
})

describe('delivery', () => {
  let opened: AsyncDisposableStack
  beforeEach(() => {
    opened = new AsyncDisposableStack()
  })
  afterEach(() => opened.disposeAsync())
  const open = async (chosen: Parameters<typeof openPlace>[0]): Promise<Place> => opened.use(await openPlace(chosen))
  const ends = async (place: Place) => {
    const found = await place.delivery.handlers.deliveries({ limit: 500 }, call)
    return found.map(({ target, kind, episode, result, reason }) =>
      [target, kind, episode, result, ...(reason ? [reason] : [])].join(' '),
    )
  }
  const ended = async (place: Place, count: number) => {
    await until(async () => (await ends(place)).length >= count)
    return (await ends(place)).toSorted()
  }

  it.each([
    ['alone', []],
    ['and of what followed', [later('recover', 'e', 1)]],
  ])(
    'records as sent what a target was told, %s, before its sender and the count of its queue were lost',
    async (_, more) => {
      const post = scripted({ targets: ['a'] })
      const place = await open({ channels: [post.channel] })
      const notice = fire('e')
      const key = targetKey({ channel: post.channel.id, target: 'a' })
      const opening = { keys: [key], isWhole: true, nowMs: Date.now() }
      await place.store.update(recordKey('e'), DeliveryRecord, (before) => ({
        value: [notice, ...more].reduce<DeliveryRecord | undefined>((record, each) => {
          const begun = begin(openRecord(record, each, opening), key, each)
          return end(begun, key, each, { result: { kind: 'ok' }, isOver: true })
        }, before),
        outbox: [{ ...asMessage(notice), id: 'claimed before' }],
      }))
      expect(await ended(place, 1)).toEqual(['a fire e sent'])
      expect(post.told).toEqual([])
    },
  )

  it('tells each target once, though the notice is handed on twice', async () => {
    const post = scripted({ targets: ['a', 'b'] })
    const place = await open({ channels: [post.channel] })
    await place.tell(fire('e'))
    await ended(place, 2)
    await place.tell(fire('e'), later('remind', 'e', 1))
    await ended(place, 4)
    expect(post.told.toSorted()).toEqual(['a fire e', 'a remind e', 'b fire e', 'b remind e'])
  })

  it('tells of the end whoever was told of the fire, whatever routes say by then', async () => {
    const post = scripted({ targets: ['a', 'b'] })
    const place = await open({ channels: [post.channel], policy: { routes: [route('a')] } })
    await place.tell(fire('e'))
    await ended(place, 1)
    place.policy.routes = [route('b')]
    await place.tell(later('recover', 'e', 1))
    await ended(place, 2)
    expect(post.told).toEqual(['a fire e', 'a recover e'])
  })

  it('obeys the floor of a rule before the one for all', async () => {
    const post = scripted({ targets: ['a'] })
    const rules = { low: { minSeverity: 'warning' as const } }
    const place = await open({ channels: [post.channel], policy: { minSeverity: 'critical', rules } })
    const warning = { severity: 'warning' as const }
    await place.tell(fire('e', { ...warning, ruleId: 'other' }), fire('f', { ...warning, ruleId: 'low' }))
    expect(await ended(place, 1)).toEqual(['a fire f sent'])
  })

  it('tells nobody of the end when nobody was told of the fire', async () => {
    const post = scripted()
    const place = await open({ channels: [post.channel], policy: { minSeverity: 'critical' } })
    await place.tell(fire('mild'))
    await until(async () => (await place.store.get(recordKey('mild'), z.unknown())) !== undefined)
    place.policy.minSeverity = 'warning'
    await place.tell(later('recover', 'mild', 1), fire('other'))
    await ended(place, 1)
    expect(post.tried).toEqual(['a fire other'])
  })

  it('drops a fire that recovered before its target took it, and the recovery with it', async () => {
    const post = scripted()
    post.always('a', retry)
    const place = await open({ channels: [post.channel], retry: { ...briefRetry, waitsMs: [300] } })
    await place.tell(fire('e'))
    await until(() => post.tried.length === 1)
    await place.tell(later('recover', 'e', 1))
    post.always('a', undefined)
    expect(await ended(place, 2)).toEqual([
      'a fire e dropped it recovered before it could be told',
      'a recover e dropped it was never told of what has recovered',
    ])
    expect(post.told).toEqual([])
  })

  it('tells of the end when the fire may have arrived', async () => {
    const post = scripted()
    post.next('a', { kind: 'retry', reason: 'did not answer in time', mayHaveArrived: true })
    const place = await open({ channels: [post.channel], retry: { ...briefRetry, waitsMs: [200] } })
    await place.tell(fire('e'))
    await until(() => post.tried.length === 1)
    await place.tell(later('recover', 'e', 1))
    await ended(place, 2)
    expect(post.told).toEqual(['a recover e'])
  })

  it('lets a recovery wait until the send of its fire has ended', async () => {
    const post = scripted()
    const { promise, resolve } = Promise.withResolvers<SendResult>()
    post.next('a', () => promise)
    const place = await open({ channels: [post.channel] })
    await place.tell(fire('e'))
    await until(() => post.tried.length === 1)
    await place.tell(later('recover', 'e', 1), fire('other'))
    await until(() => post.told.includes('a fire other'))
    expect(post.tried).not.toContain('a recover e')
    resolve({ kind: 'ok' })
    await ended(place, 3)
    expect(post.told).toEqual(['a fire other', 'a fire e', 'a recover e'])
  })

  it('sends the latest of an episode only', async () => {
    const post = scripted()
    post.next('a', retry)
    const place = await open({ channels: [post.channel], retry: { ...briefRetry, waitsMs: [200] } })
    await place.tell(fire('e'))
    await until(() => post.tried.length === 1)
    await place.tell(later('escalate', 'e', 1, { severity: 'critical' }))
    expect(await ended(place, 2)).toEqual(['a escalate e sent', 'a fire e dropped a later notice says more'])
    expect(post.told).toEqual(['a escalate e'])
  })

  it('sends a recovery when its record was lost, for to be told twice is better than never', async () => {
    const post = scripted()
    const place = await open({ channels: [post.channel] })
    await place.tell(fire('e'))
    await ended(place, 1)
    await place.store.update(recordKey('e'), z.unknown(), () => ({ value: undefined }))
    await place.tell(later('recover', 'e', 1))
    await ended(place, 2)
    expect(post.told).toEqual(['a fire e', 'a recover e'])
  })

  it('sends it to whoever routes lead to when the record of deliveries is lost too', async () => {
    const post = scripted({ targets: ['a', 'b'] })
    const place = await open({ channels: [post.channel], policy: { routes: [route('a')] } })
    await place.tell(fire('e'))
    await ended(place, 1)
    await place.store.update(recordKey('e'), z.unknown(), () => ({ value: undefined }))
    await place.delivery.prune(Number.MAX_SAFE_INTEGER)
    await place.tell(later('recover', 'e', 1))
    await ended(place, 1)
    expect(post.told).toEqual(['a fire e', 'a recover e'])
  })

  it('gives up when its life is over, with what went wrong last', async () => {
    const post = scripted()
    post.always('a', retry)
    const lifeMs = { paging: 10_000, others: 200 }
    const place = await open({ channels: [post.channel], retry: { ...briefRetry, lifeMs } })
    await place.tell(fire('e'))
    expect(await ended(place, 1)).toEqual([expect.stringMatching(/^a fire e dead .*answered 503$/)])
    expect(post.tried.length).toBeGreaterThan(1)
  })

  it('sends a dead letter again when it is asked to, once', async () => {
    const post = scripted()
    post.next('a', { kind: 'permanent', reason: 'answered 400' })
    const place = await open({ channels: [post.channel] })
    const { handlers } = place.delivery
    await place.tell(fire('e'))
    await ended(place, 1)
    const [letter] = (await handlers.deadLetters({ limit: 10 }, call)).letters
    expect(letter).toMatchObject({ episode: 'e', reason: 'answered 400', target: 'a' })
    await handlers.replayDeadLetter({ id: letter?.id ?? '' }, call)
    await until(() => post.told.length === 1)
    await expect(handlers.replayDeadLetter({ id: letter?.id ?? '' }, call)).rejects.toMatchObject({ code: 'not-found' })
    expect((await handlers.deadLetters({ limit: 10 }, call)).letters).toEqual([])
    expect(post.told).toEqual(['a fire e'])
  })

  it('gives a dead letter whose life was over a new one when it is sent again', async () => {
    const post = scripted()
    post.always('a', retry)
    const place = await open({
      channels: [post.channel],
      retry: { ...briefRetry, lifeMs: { paging: 300, others: 300 } },
    })
    await place.tell(fire('e'))
    await ended(place, 1)
    await new Promise((resolve) => setTimeout(resolve, 300))
    post.always('a', undefined)
    const [letter] = (await place.delivery.handlers.deadLetters({ limit: 10 }, call)).letters
    await place.delivery.handlers.replayDeadLetter({ id: letter?.id ?? '' }, call)
    await until(() => post.told.length === 1)
    expect(post.told).toEqual(['a fire e'])
  })

  it('does not tell what is old by now when a dead letter is sent again', async () => {
    const post = scripted()
    post.next('a', { kind: 'permanent', reason: 'answered 400' })
    const place = await open({ channels: [post.channel] })
    await place.tell(fire('e'))
    await ended(place, 1)
    await place.tell(later('recover', 'e', 1))
    await ended(place, 2)
    const [letter] = (await place.delivery.handlers.deadLetters({ limit: 10 }, call)).letters
    await place.delivery.handlers.replayDeadLetter({ id: letter?.id ?? '' }, call)
    await until(async () => (await ends(place)).includes('a fire e dropped it recovered before it could be told'))
    expect(post.told).toEqual([])
  })

  it('tells the others of a target that is broken, and when it is mended', async () => {
    const post = scripted({ targets: ['a', 'b'] })
    post.next('a', { kind: 'config', reason: 'answered 404' })
    const place = await open({ channels: [post.channel] })
    await place.tell(fire('e'))
    await until(() => post.told.length === 2)
    expect(post.messages.map(({ notice }) => notice.ruleId)).toContain(brokenRule)
    expect(post.messages.map(({ headline }) => headline)).toContain('WARNING: Alerts do not reach post:a')
    await place.tell(fire('other'))
    await until(() => post.messages.some(({ notice }) => notice.ruleId === brokenRule && notice.kind === 'recover'))
    expect(post.tried.filter((line) => line.startsWith('a ') && line.includes('broken'))).toEqual([])
  })

  it('keeps a page for a target that is broken until it is mended, and ends what is no page', async () => {
    const post = scripted({ targets: ['a', 'b'] })
    post.next('a', { kind: 'config', reason: 'answered 401' }, { kind: 'config', reason: 'answered 401' })
    const place = await open({ channels: [post.channel], retry: { ...briefRetry, waitsMs: [50] } })
    await place.tell(fire('page', { severity: 'critical' }))
    await until(() => post.told.includes('a fire page'))
    expect(post.tried.filter((line) => line === 'a fire page')).toHaveLength(3)
    post.next('a', { kind: 'config', reason: 'answered 401' })
    await place.tell(fire('mild'))
    await until(async () => (await ends(place)).includes('a fire mild dead answered 401'))
  })

  it('keeps every message of a pager as long as it lives', async () => {
    const pager = scripted({ isPaging: true })
    pager.next('a', { kind: 'config', reason: 'answered 404' })
    const place = await open({ channels: [pager.channel] })
    await place.tell(fire('mild'))
    expect(await ended(place, 1)).toEqual(['a fire mild sent'])
  })

  it('tells somebody of a broken target, though floors and routes let nobody hear of it', async () => {
    const post = scripted({ targets: ['a', 'b'] })
    post.always('a', { kind: 'config', reason: 'answered 404' })
    const place = await open({ channels: [post.channel], policy: { minSeverity: 'critical', routes: [route('a')] } })
    await place.tell(fire('page', { severity: 'critical' }))
    await until(() => post.messages.some(({ notice }) => notice.ruleId === brokenRule))
    expect(post.told[0]).toMatch(/^b fire broken:post:a/)
  })

  it('tells each target of a digest what is meant for it, and of the end whoever got the digest', async () => {
    const post = scripted({ targets: ['a', 'b'] })
    const routes = [
      route('a', { matchRule: 'disk*' }),
      route('b', { matchRule: 'parts' }),
      route('b', { matchRule: 'digest' }),
    ]
    const place = await open({ channels: [post.channel], policy: { routes } })
    const entry = (episode: string, ruleId: string, recovered = false) =>
      ({ episode, ruleId, hostKey: 'db', source: null, title: ruleId, severity: 'warning', recovered }) as const
    const gathered = [entry('e1', 'disk-usage'), entry('e2', 'parts'), entry('e3', 'disk-errors', true)]
    await place.tell(noticeOf({ kind: 'digest', episode: 'd', ruleId: 'digest', hostKey: null, gathered }))
    await ended(place, 2)
    const got = post.messages.map(({ gathered: lines }) => lines)
    expect(got).toContainEqual([
      'WARNING: disk-usage on Database',
      'WARNING: disk-errors on Database (fired and recovered)',
    ])
    expect(got).toContainEqual(['WARNING: parts on Database'])
    await place.tell(later('recover', 'e1', 1, { ruleId: 'disk-usage' }))
    await ended(place, 3)
    expect(post.told.slice(2)).toEqual(['a recover e1'])
  })

  it('gathers what is not critical while there is a window', async () => {
    const post = scripted()
    const place = await open({ channels: [post.channel], policy: { digestMs: 60_000 } })
    await place.tell(fire('mild'))
    await place.tell(fire('bad', { severity: 'critical' }))
    await ended(place, 1)
    expect(post.tried).toEqual(['a fire bad'])
  })

  it('holds nobody back for a target that rests', async () => {
    const post = scripted({ targets: ['dead', 'well'] })
    post.always('dead', retry)
    const place = await open({
      channels: [post.channel],
      retry: { ...briefRetry, lifeMs: longLife, longestRestMs: 60_000, longestWaitMs: 60_000, waitsMs: [60_000] },
    })
    const episodes = Array.from({ length: 300 }, (_, index) => fire(`e${index}`))
    for (const notice of episodes) await place.tell(notice)
    await ended(place, 300)
    expect(post.told).toHaveLength(300)
    expect(post.tried.filter((line) => line.startsWith('dead')).length).toBeLessThanOrEqual(16)
  })

  it('tells a target at once though five thousand messages wait for the one beside it', async () => {
    const post = scripted({ targets: ['dead', 'well'] })
    post.always('dead', retry)
    const longMs = 600_000
    const lifeMs = { paging: 2 * longMs, others: 2 * longMs }
    const lasting = { lifeMs, waitsMs: [longMs], longestRestMs: longMs, longestWaitMs: longMs, holdMs: longMs }
    const place = await open({
      channels: [post.channel],
      retry: { ...briefRetry, ...lasting },
      policy: { routes: [route('well')] },
    })
    for (let index = 0; index < 5_000; index += 1) {
      const payload: Addressed = { notice: fire(`d${index}`), channel: 'post', target: 'dead' }
      const outbox = [{ id: deliveryIdOf(payload), topic: addressedTopic, payload }]
      await place.store.update(`test:d${index}`, z.number(), () => ({ value: 1, outbox }))
    }
    await place.tell(fire('e'))
    expect(await ended(place, 1)).toEqual(['well fire e sent'])
    expect(post.tried.filter((line) => line.startsWith('dead')).length).toBeLessThanOrEqual(16)
  })

  it('sends a target no more at once than it takes', async () => {
    const post = scripted({ limits: { concurrency: 2 } })
    let [inHand, most] = [0, 0]
    post.next(
      'a',
      ...Array.from({ length: 20 }, () => async (): Promise<SendResult> => {
        inHand += 1
        most = Math.max(most, inHand)
        await new Promise((resolve) => setTimeout(resolve, 5))
        inHand -= 1
        return { kind: 'ok' }
      }),
    )
    const place = await open({ channels: [post.channel] })
    for (let index = 0; index < 20; index += 1) await place.tell(fire(`e${index}`))
    await ended(place, 20)
    expect(most).toBe(2)
  })

  it('drops what was meant for a target that is gone', async () => {
    const post = scripted()
    const place = await open({ channels: [post.channel] })
    const { promise, resolve } = Promise.withResolvers<SendResult>()
    post.next('a', () => promise)
    await place.tell(fire('e'))
    await until(() => post.tried.length === 1)
    place.policy.channels = { post: { enabled: false, variables: {} } }
    resolve(retry)
    expect(await ended(place, 1)).toEqual(['a fire e dropped its target is switched off or gone'])
  })
})
