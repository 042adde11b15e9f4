import { z } from 'zod'
import { openNatsQueue } from './nats-queue.ts'

/**
 * Takes one message from the queue at the URL in the first argument, and never acknowledges it, until the process is
 * killed.
 */
const [url = ''] = process.argv.slice(2)
const limits = { ackWaitMs: 600 }
const queue = await openNatsQueue({ url, replicas: 1, limits }, { caller: 'alert-dispatcher', instance: 'killed' })
const consumer = {
  stream: 'EVENTS',
  name: 'webhook',
  subjects: 'inbound.webhook.>',
  body: z.unknown(),
  maxInFlight: 1,
} as const
await queue.consume(consumer, async ({ id }) => {
  process.stdout.write(id)
  await new Promise(() => {})
  return 'done'
})
