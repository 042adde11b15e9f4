import type { Telemetry } from '../../telemetry/telemetry.ts'
import type { Endpoint } from '../wire.ts'
import { openMemoryQueues } from './memory-queue.ts'
import type { Queue } from './queue.ts'

interface QueuesOptions {
  /** Of the NATS server; unset keeps messages in memory. */
  url: string | undefined
  replicas: number
}

/** How a service opens its queue: under its own name, with its own log. */
type OpenQueue = (endpoint: Endpoint, telemetry: Pick<Telemetry, 'log' | 'metrics'>) => Promise<Queue>

/** How the services of this process open their queues: on JetStream, or on streams in memory that they share. */
export const openQueues = ({ url, replicas }: QueuesOptions): OpenQueue => {
  if (url === undefined) {
    const open = openMemoryQueues()
    return (_endpoint, { log, metrics }) => open(log, metrics)
  }
  return async (endpoint, { log, metrics }) => {
    const { openNatsQueue } = await import('./nats-queue.ts')
    return openNatsQueue({ url, replicas, log, metrics }, endpoint)
  }
}
