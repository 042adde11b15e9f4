import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import type { Priority } from '#proto/call.ts'
import { type MonitoredHost, telemetryName } from '../hosts/host-list.ts'
import { type HostQueue, openQueue } from './queue.ts'

/** One queue per host, with its figures kept current. */
export interface Turns {
  enter(host: MonitoredHost, priority: Priority, size: number, signal: AbortSignal): Promise<() => void>
}

export const openTurns = (telemetry: Telemetry): Turns => {
  const queues = new Map<string, HostQueue>()
  const running = metrics.statementsRunning(telemetry.metrics)
  const waiting = metrics.statementsWaiting(telemetry.metrics)

  const tell = (host: MonitoredHost, queue: HostQueue): void => {
    const label = { host: telemetryName(host) }
    running.set(label, queue.running)
    waiting.set(label, queue.waiting)
    // Hosts that people bring come and go; a queue with nobody in it remembers nothing.
    if (queue.running === 0 && queue.waiting === 0) queues.delete(host.key)
  }

  return {
    async enter(host, priority, size, signal) {
      let queue = queues.get(host.key)
      if (!queue) queues.set(host.key, (queue = openQueue(host.name)))
      const entering = queue.enter(priority, size, signal)
      tell(host, queue)
      const leave = await entering
      tell(host, queue)
      return () => {
        leave()
        tell(host, queue)
      }
    },
  }
}
