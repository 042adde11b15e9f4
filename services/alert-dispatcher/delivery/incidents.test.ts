import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '#shared/bus/conformance/implementations.suite.ts'
import { noticeOf } from './testing/notice.ts'
import { type Place, call, openPlace } from './testing/place.ts'
import { type Scripted, scripted } from './testing/scripted.ts'

const entry = (episode: string, recovered = false) =>
  ({
    episode,
    ruleId: 'parts',
    hostKey: 'db',
    source: null,
    title: `too many parts (${episode})`,
    severity: 'warning',
    recovered,
  }) as const
const digest = noticeOf({
  kind: 'digest',
  episode: 'd',
  ruleId: 'digest',
  hostKey: null,
  gathered: [entry('e1'), entry('e2'), entry('e3', true)],
})
const recovery = (episode: string) => noticeOf({ kind: 'recover', episode, sequence: 1, ruleId: 'parts' })

describe('a digest, where some open an incident with each condition', () => {
  let post: Scripted
  let pager: Scripted
  let place: Place
  beforeEach(async () => {
    post = scripted()
    pager = scripted({ id: 'pager' })
    place = await openPlace({ channels: [post.channel, { ...pager.channel, opensIncidents: true }] })
  })
  afterEach(() => place[Symbol.asyncDispose]())

  const ended = async (count: number) => {
    const ends = () => place.delivery.handlers.deliveries({ limit: 50 }, call)
    await until(async () => (await ends()).length >= count)
  }

  it('is for them each condition by itself, and nothing that recovered meanwhile', async () => {
    await place.tell(digest)
    await ended(3)
    expect(post.told).toEqual(['a digest d'])
    expect(pager.told.toSorted()).toEqual(['a fire e1', 'a fire e2'])
    const headlines = pager.messages.map(({ headline }) => headline)
    expect(headlines.toSorted()).toEqual([
      'WARNING: too many parts (e1) on Database',
      'WARNING: too many parts (e2) on Database',
    ])
  })

  it('lets them close what they opened', async () => {
    await place.tell(digest)
    await ended(3)
    await place.tell(recovery('e1'))
    await ended(5)
    expect(post.told).toEqual(['a digest d', 'a recover e1'])
    expect(pager.told.toSorted()).toEqual(['a fire e1', 'a fire e2', 'a recover e1'])
  })

  it('opens nothing again when it is handed on once more', async () => {
    await place.tell(digest)
    await ended(3)
    await place.tell(recovery('e1'))
    await ended(5)
    await place.tell(digest)
    await place.tell(recovery('e2'))
    await until(() => pager.told.includes('a recover e2'))
    expect(pager.told.filter((line) => line.includes('fire'))).toHaveLength(2)
  })
})
