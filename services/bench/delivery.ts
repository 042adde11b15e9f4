import { openNatsQueue } from '#shared/bus/durable/nats-queue.ts'
import { startNats, startRedis } from '../testing/servers.ts'
import { Notification } from '../alert-dispatcher/notification.ts'
import { type Benchmark, percentile } from './benchmark.ts'
import { type Measure, byTurns, noticeFor, openDecisions, timing } from './decisions.ts'

const repetitions = 5
const warmUp = 300
/** A 99th percentile of few messages is an accident of the machine's. */
const messages = 1_000

/**
 * How long it takes from a decision until its first byte is at a channel, beside what a durable queue alone would take from a publish to its
 * consumer. Delivery passes through no queue: this is what it would cost at least if it did.
 */
export const deliveryTime: Benchmark = {
  name: 'delivery',
  async run() {
    await using opened = new AsyncDisposableStack()
    const nats = opened.use(await startNats({ private: true }))
    // As the product's chart runs it. NATS waits for no disk here either, as those before 2.10 cannot be told to.
    const redis = opened.use(await startRedis({ private: true, settings: { appendfsync: 'everysec' } }))
    const decide = await openDecisions(opened, { redis: redis.url })
    const publish = await openPublishing(opened, nats.url)
    const [ours, reference]: [number[], number[]] = [[], []]
    await byTurns([decide, publish], warmUp)
    for (let repetition = 0; repetition < repetitions; repetition += 1) {
      const [decided = [], published = []] = await byTurns([decide, publish], messages)
      ours.push(percentile(decided, 0.99))
      reference.push(percentile(published, 0.99))
    }
    return [{ name: 'decision to first byte, p99', unit: 'ms', ours, reference, bar: { atMost: 3 } }]
  },
}

/** A durable queue alone, with the same message. */
const openPublishing = async (opened: AsyncDisposableStack, url: string): Promise<Measure> => {
  const caller = 'alert-dispatcher'
  const queue = opened.use(await openNatsQueue({ url, replicas: 1 }, { caller, instance: 'bench-publishes' }))
  const consumed = opened.use(await openNatsQueue({ url, replicas: 1 }, { caller, instance: 'bench-consumes' }))
  const { measure, arrived } = timing((name, begins) => {
    const body = noticeFor(name)
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
