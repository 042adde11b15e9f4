import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Msg, NatsConnection } from 'nats'
import { z } from 'zod'
import { decodeJson } from '../body.ts'
import type { HeaderEncoder } from '../nats-connection.ts'
import type { WireHeaders } from '../wire.ts'
import { startInNextBatch } from './batches.ts'

/** The response of JetStream to a publish: the stream that stores the message, or an error. */
const PublishReply = z.object({
  stream: z.string().default(''),
  duplicate: z.boolean().default(false),
  error: z.object({ description: z.string().default(''), err_code: z.number().default(0) }).optional(),
})
type PublishReply = z.output<typeof PublishReply>

/** A function that publishes a message. Resolves with the response of JetStream; rejects if none arrives in time. */
export type StreamPublisher = (subject: string, body: Uint8Array, headers: WireHeaders) => Promise<PublishReply>

/** Pause before a message is sent again to a stream that had no leader. */
const leaderlessRetryMs = 200

interface PublisherOptions {
  connection: NatsConnection
  /** Prefix of subjects that only this connection may subscribe to. */
  inbox: string
  encode: HeaderEncoder
  withinMs: number
}

/**
 * Returns a function that publishes to streams. All responses arrive in one subscription, each on its own subject. The
 * request function of the client is not used: it captures a stack trace per request, which doubles the cost.
 */
export const openPublisher = ({ connection, inbox, encode, withinMs }: PublisherOptions): StreamPublisher => {
  const prefix = `${inbox}.${randomBytes(6).toString('hex')}.`
  const awaited = new Map<string, (message: Msg) => void>()
  let published = 0
  const callback = (_error: Error | null, message: Msg) => awaited.get(message.subject)?.(message)
  connection.subscribe(`${prefix}*`, { callback })

  const publishOnce = async (timeoutMs: number, ...[subject, body, headers]: Parameters<StreamPublisher>) => {
    const { promise, resolve, reject } = Promise.withResolvers<Msg>()
    const reply = prefix + (published += 1).toString(36)
    const late = setTimeout(
      () => reject(new Error(`no acknowledgement from JetStream within ${withinMs} ms`)),
      timeoutMs,
    )
    awaited.set(reply, resolve)
    try {
      const { data } = await startInNextBatch(() => {
        connection.publish(subject, body, { reply, headers: encode(headers) })
        return promise
      })
      return data
    } finally {
      clearTimeout(late)
      awaited.delete(reply)
    }
  }

  return async (subject, body, headers) => {
    const startedMs = performance.now()
    for (;;) {
      const remainingMs = withinMs - (performance.now() - startedMs)
      const data = await publishOnce(remainingMs, subject, body, headers)
      if (data.length > 0) return PublishReply.parse(decodeJson(data))
      // A server that has no such stream, or has JetStream disabled, sends no acknowledgement. Nor does a cluster whose
      // leader has just failed. It has a new one after a few seconds; the id of the message prevents a second copy.
      if (remainingMs < 2 * leaderlessRetryMs) throw new Error('no responders')
      await wait(leaderlessRetryMs)
    }
  }
}
