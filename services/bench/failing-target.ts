import { z } from 'zod'
import { openStore } from '#shared/store/open.ts'
import { startRedis } from '../testing/describe-with.ts'
import type { ChannelTarget } from '../alert-dispatcher/channels/channel.ts'
import { webhookChannel } from '../alert-dispatcher/channels/webhook.ts'
import {
  type AddressedNotification,
  addressedNotificationTopic,
  getDeliveryId,
} from '../alert-dispatcher/notification.ts'
import { type Benchmark, calculateQuantile } from './benchmark.ts'
import { type MeasureLatency, measureInTurn, createTestNotification, openDecisionProbe } from './decision-latency.ts'

const repetitions = 5
const warmUp = 50
const messages = 100
/** Number of pending messages of the failing target. */
const pendingMessages = 5_000
const atOnce = 200

/** Measures by how much a failing target with thousands of pending messages delays another target of the channel. */
export const failingTargetDelay: Benchmark = {
  name: 'dead-target',
  async run() {
    await using opened = new AsyncDisposableStack()
    const beside = await openStoreWithBacklog(opened, pendingMessages)
    const idle = await openStoreWithBacklog(opened, 0)
    const [ours, reference]: [number[], number[]] = [[], []]
    const [oursWorst, referenceWorst]: [number[], number[]] = [[], []]
    await measureInTurn([beside, idle], warmUp)
    for (let repetition = 0; repetition < repetitions; repetition += 1) {
      const [held = [], alone = []] = await measureInTurn([beside, idle], messages)
      ours.push(calculateQuantile(held, 0.5))
      reference.push(calculateQuantile(alone, 0.5))
      oursWorst.push(calculateQuantile(held, 0.99))
      referenceWorst.push(calculateQuantile(alone, 0.99))
    }
    const name = `decision to first byte, another target failing with ${pendingMessages} pending messages`
    return [
      { name: `${name}, p50`, unit: 'ms', ours, reference, bar: { atMost: 1.15 } },
      { name: `${name}, p99`, unit: 'ms', ours: oursWorst, reference: referenceWorst, bar: { atMost: 1.5 } },
    ]
  },
}

/** A target that responds with a temporary error, so that each message is retried. */
const failingChannelTarget: ChannelTarget = {
  id: 'dead',
  name: 'dead',
  isEnabled: true,
  minSeverity: null,
  send: async () => ({ kind: 'retry', reason: 'HTTP 503' }),
}

/** Starts a store with `count` messages for the failing target in its outbox, and delivery from that store. */
const openStoreWithBacklog = async (opened: AsyncDisposableStack, count: number): Promise<MeasureLatency> => {
  const { url: redis } = opened.use(await startRedis({ private: true, settings: { appendfsync: 'everysec' } }))
  await using store = await openStore({ env: { REDIS_URL: redis }, busIsShared: true })
  for (let from = 0; from < count; from += atOnce) {
    const outbox = Array.from({ length: atOnce }, (_, index) => {
      const payload: AddressedNotification = {
        notification: createTestNotification(`dead-${from + index}`),
        channel: webhookChannel.id,
        target: failingChannelTarget.id,
      }
      return { id: getDeliveryId(payload), topic: addressedNotificationTopic, payload }
    })
    await store.update(`bench:fill:${from}`, z.number(), () => ({ value: from, outbox }))
  }
  return openDecisionProbe(opened, { redis, others: [failingChannelTarget] })
}
