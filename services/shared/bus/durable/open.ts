import type { Logger } from 'pino'
import type { Endpoint } from '../wire.ts'
import { openMemoryQueues } from './memory-queue.ts'
import type { Queue } from './queue.ts'

interface QueuesOptions {
  /** Of the NATS server; unset keeps messages in memory. */
  url: string | undefined
  replicas: number
}

/** How the services of this process open their queues: on JetStream, or on streams in memory that they share. */
export const openQueues = ({ url, replicas }: QueuesOptions): ((endpoint: Endpoint, log: Logger) => Promise<Queue>) => {
  if (url === undefined) {
    const open = openMemoryQueues()
    return (_endpoint, log) => open(log)
  }
  return async (endpoint, log) => {
    const { openNatsQueue } = await import('./nats-queue.ts')
    return openNatsQueue({ url, replicas, log }, endpoint)
  }
}
