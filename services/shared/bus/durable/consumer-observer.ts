import type { Registry } from 'prom-client'
import { metrics } from '../../telemetry/metrics.ts'
import type { ResolvedConsumer, QueueDriver, ClaimedMessage } from './driver.ts'

/** The dependencies of an observer. */
interface ConsumerObserverDeps {
  driver: Pick<QueueDriver, 'backlog'>
  metrics: Registry | undefined
}

/** Records metrics of one consumer until disposed. */
export interface ConsumerObserver extends Disposable {
  /** Records a delivered message and returns it. */
  handed(taken: ClaimedMessage): ClaimedMessage
}

/** Interval between readings of the backlog. Each reading costs a request, so scrapes do not trigger it. */
const readBacklogEveryMs = 10_000

/** Starts recording metrics of one consumer: its backlog and the waiting time of its messages. */
export const observeConsumer = (
  { driver, metrics: registry }: ConsumerObserverDeps,
  consumer: ResolvedConsumer,
): ConsumerObserver => {
  if (registry === undefined) return noopObserver
  const label = { consumer: consumer.name }
  const messages = metrics.queueMessages(registry)
  const waits = metrics.queueWait(registry).labels(label)
  // Reads the backlog. A failed read keeps the last value; the consumers report the outage.
  const look = () =>
    void driver.backlog(consumer).then(
      (waiting) => messages.set(label, waiting),
      () => {},
    )
  look()
  const timer = setInterval(look, readBacklogEveryMs).unref()
  return {
    handed(taken) {
      if (taken.deliveries === 1) waits.observe(taken.ageMs / 1_000)
      return taken
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

const noopObserver: ConsumerObserver = { handed: (taken) => taken, [Symbol.dispose]: () => {} }
