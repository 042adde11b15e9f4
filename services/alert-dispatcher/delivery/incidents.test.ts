import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { waitUntil } from '#shared/bus/conformance/implementations.suite.ts'
import { createNotification } from './testing/notification.ts'
import { type DeliveryFixture, testServiceCall, openDeliveryFixture } from './testing/fixture.ts'
import { type ScriptedChannel, createScriptedChannel } from './testing/scripted-channel.ts'

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
const digest = createNotification({
  kind: 'digest',
  episode: 'd',
  ruleId: 'digest',
  hostKey: null,
  gathered: [entry('e1'), entry('e2'), entry('e3', true)],
})
const recovery = (episode: string) => createNotification({ kind: 'recover', episode, sequence: 1, ruleId: 'parts' })

describe('a digest for channels that open incidents', () => {
  let post: ScriptedChannel
  let pager: ScriptedChannel
  let fixture: DeliveryFixture
  beforeEach(async () => {
    post = createScriptedChannel()
    pager = createScriptedChannel({ id: 'pager' })
    fixture = await openDeliveryFixture({ channels: [post.channel, { ...pager.channel, opensIncidents: true }] })
  })
  afterEach(() => fixture[Symbol.asyncDispose]())

  const ended = async (count: number) => {
    const ends = () => fixture.delivery.handlers.deliveries({ limit: 50 }, testServiceCall)
    await waitUntil(async () => (await ends()).length >= count)
  }

  it('is split into conditions, without those that recovered', async () => {
    await fixture.notify(digest)
    await ended(3)
    expect(post.notified).toEqual(['a digest d'])
    expect(pager.notified.toSorted()).toEqual(['a fire e1', 'a fire e2'])
    const headlines = pager.messages.map(({ headline }) => headline)
    expect(headlines.toSorted()).toEqual([
      'WARNING: too many parts (e1) on Database',
      'WARNING: too many parts (e2) on Database',
    ])
  })

  it('sends recoveries that close their incidents', async () => {
    await fixture.notify(digest)
    await ended(3)
    await fixture.notify(recovery('e1'))
    await ended(5)
    expect(post.notified).toEqual(['a digest d', 'a recover e1'])
    expect(pager.notified.toSorted()).toEqual(['a fire e1', 'a fire e2', 'a recover e1'])
  })

  it('opens no second incident if it is repeated', async () => {
    await fixture.notify(digest)
    await ended(3)
    await fixture.notify(recovery('e1'))
    await ended(5)
    await fixture.notify(digest)
    await fixture.notify(recovery('e2'))
    await waitUntil(() => pager.notified.includes('a recover e2'))
    expect(pager.notified.filter((line) => line.includes('fire'))).toHaveLength(2)
  })
})
