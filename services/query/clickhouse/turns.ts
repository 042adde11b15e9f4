import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import type { Priority } from '#proto/call.ts'
import { type MonitoredHost, telemetryName } from '../hosts/host-list.ts'
import { type HostQueue, openQueue } from './queue.ts'

/** One queue per host, with figures of its own. */
export interface Turns {
  enter(host: MonitoredHost, priority: Priority, size: number, signal: AbortSignal): Promise<() => void>
}

export const openTurns = (telemetry: Telemetry): Turns => {
  const queues = new Map<string, Named>()
  // A host that was asked once keeps its figure; all those that people bring have one name.
  const names = new Set<string>()
  const read = (figure: 'running' | 'waiting') => () => {
    const open = [...queues.values()].map(({ name, queue }) => ({ labels: { host: name }, value: queue[figure] }))
    return [...Array.from(names, (host) => ({ labels: { host }, value: 0 })), ...open]
  }
  metrics.statementsRunning(telemetry.metrics, read('running'))
  metrics.statementsWaiting(telemetry.metrics, read('waiting'))

  const queueOf = (host: MonitoredHost): HostQueue => {
    const known = queues.get(host.key)
    if (known) return known.queue
    // Hosts that people bring come and go; a queue with nobody in it remembers nothing.
    const idle = host.connect && (() => void queues.delete(host.key))
    const opened = { name: telemetryName(host), queue: openQueue(host.name, idle) }
    names.add(opened.name)
    queues.set(host.key, opened)
    return opened.queue
  }

  return { enter: (host, priority, size, signal) => queueOf(host).enter(priority, size, signal) }
}

interface Named {
  name: string
  queue: HostQueue
}
