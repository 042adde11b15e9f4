import { expect, it } from 'vitest'
import { until } from '#shared/bus/conformance/implementations.suite.ts'
import { openNatsQueue } from '#shared/bus/durable/nats-queue.ts'
import { describeWith, startNats } from '../../testing/servers.ts'
import type { SendResult } from '../channels/channel.ts'
import type { Notice } from '../notice.ts'
import { noticeOf } from './testing/notice.ts'
import { briefRetry, call, openPlace } from './testing/place.ts'
import { scripted } from './testing/scripted.ts'

const retry: SendResult = { kind: 'retry', reason: 'answered 503' }
const limits = { ackWaitMs: 1_000, failedAgainMs: 50, retryMs: 50 }
const patient = { lifeMs: { paging: 60_000, others: 60_000 }, waitsMs: [100], longestRestMs: 200 }

/** Delivery on a NATS server that can be replaced by an empty one. */
const openLosing = async (opened: AsyncDisposableStack, channels: ReturnType<typeof scripted>[]) => {
  let server = await startNats({ private: true })
  opened.defer(() => server.stop())
  const { url } = server
  const place = opened.use(
    await openPlace({
      channels: channels.map(({ channel }) => channel),
      openQueue: () => openNatsQueue({ url, replicas: 1, limits }, { caller: 'alert-dispatcher', instance: 'test' }),
      retry: { ...briefRetry, ...patient },
      republishEveryMs: 100,
    }),
  )
  const lose = async () => {
    await server.stop()
    server = await startNats({ private: true, port: Number(new URL(url).port) })
  }
  return { place, lose }
}

const digest = (episodes: readonly string[]): Notice =>
  noticeOf({
    kind: 'digest',
    episode: 'digest',
    ruleId: 'digest',
    hostKey: null,
    gathered: episodes.map((episode) => ({
      episode,
      ruleId: 'disk-usage',
      hostKey: 'db',
      source: null,
      title: 'Disk almost full',
      severity: 'warning',
      recovered: false,
    })),
  })

describeWith(['nats'], 'a queue that lost its data', () => {
  it('is given again what targets have yet to take: fires, ends and digests', async () => {
    await using opened = new AsyncDisposableStack()
    const [up, down] = [scripted({ id: 'up' }), scripted({ id: 'down' })]
    const { place, lose } = await openLosing(opened, [up, down])
    await place.tell(noticeOf({ episode: 'ends' }))
    await until(() => up.told.length + down.told.length === 2)
    down.always('a', retry)
    const recover = noticeOf({ kind: 'recover', episode: 'ends', sequence: 1 })
    await place.tell(recover)
    await place.tell(noticeOf({ episode: 'fires' }))
    await place.tell(digest(['gathered']))
    await until(() => up.told.length === 4 && down.tried.length > 1)
    await lose()
    down.always('a', undefined)
    const all = ['a digest digest', 'a fire ends', 'a fire fires', 'a recover ends']
    await until(() => down.told.length === all.length)
    expect(down.told.toSorted()).toEqual(all)
    expect(up.told.toSorted()).toEqual(all)
    await place.tell(noticeOf({ kind: 'recover', episode: 'fires', sequence: 1 }))
    await until(() => down.told.includes('a recover fires'))
    expect(await place.delivery.handlers.deadLetters({ limit: 10 }, call)).toMatchObject({ letters: [] })
  })
})
