import { openNatsQueue } from '#shared/bus/durable/nats-queue.ts'
import { startNats, startRedis } from '../testing/describe-with.ts'
import { Notification } from '../alert-dispatcher/notification.ts'
import { type Benchmark, calculateQuantile } from './benchmark.ts'
import {
  type MeasureLatency,
  measureInTurn,
  createTestNotification,
  openDecisionProbe,
  createLatencyProbe,
} from './decision-latency.ts'

const repetitions = 5
const warmUp = 300
/** Number of messages. A stable 99th percentile needs many. */
const messages = 1_000

/**
 * Measures the time from an alert decision until the first bytes arrive at the channel. The reference is the latency
 * from publisher to consumer of a durable queue, although delivery uses no such queue.
 */
export const deliveryTime: Benchmark = {
  name: 'delivery',
  async run() {
    await using opened = new AsyncDisposableStack()
    const nats = opened.use(await startNats({ private: true }))
    // Configured as in the Helm chart, but without a disk sync per write: NATS before 2.10 cannot sync each message.
    const redis = opened.use(await startRedis({ private: true, settings: { appendfsync: 'everysec' } }))
    const decide = await openDecisionProbe(opened, { redis: redis.url })
    const publish = await openPublishing(opened, nats.url)
    const [ours, reference]: [number[], number[]] = [[], []]
    await measureInTurn([decide, publish], warmUp)
    for (let repetition = 0; repetition < repetitions; repetition += 1) {
      const [decided = [], published = []] = await measureInTurn([decide, publish], messages)
      ours.push(calculateQuantile(decided, 0.99))
      reference.push(calculateQuantile(published, 0.99))
    }
    return [{ name: 'decision to first byte, p99', unit: 'ms', ours, reference, bar: { atMost: 3 } }]
  },
}

/** Returns a function that measures how long the same message takes through a durable queue. */
const openPublishing = async (opened: AsyncDisposableStack, url: string): Promise<MeasureLatency> => {
  const caller = 'alert-dispatcher'
  const queue = opened.use(await openNatsQueue({ url, replicas: 1 }, { caller, instance: 'bench-publishes' }))
  const consumed = opened.use(await openNatsQueue({ url, replicas: 1 }, { caller, instance: 'bench-consumes' }))
  const { measure, arrived } = createLatencyProbe((name, begins) => {
    const body = createTestNotification(name)
    begins()
    return queue.publish('inbound.bench', { id: body.id, body })
  })
  const consumer = { stream: 'EVENTS', name: 'bench', subjects: 'inbound.bench', body: Notification } as const
  opened.use(
    await consumed.consume(consumer, async ({ body }) => {
      arrived(body.episode)
      return 'done'
    }),
  )
  return measure
}
