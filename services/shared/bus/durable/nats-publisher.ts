import { randomBytes } from 'node:crypto'
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

interface PublisherOptions {
  connection: Pick<NatsConnection, 'publish' | 'subscribe' | 'status'>
  /** Prefix of subjects that only this connection may subscribe to. */
  inbox: string
  encode: HeaderEncoder
  withinMs: number
}

/** A published message without an acknowledgement. */
interface PendingMessage {
  send(): void
  sendLater(): void
  acknowledge(message: Msg): void
}

/** Pause before a message is sent again to a stream that has no leader. */
const retryMs = 200

/**
 * Returns a function that publishes to streams. All responses arrive in one subscription, each on its own subject. The
 * request function of the client is not used: it captures a stack trace per request, which doubles the cost. Messages
 * without an acknowledgement are published again when the connection is restored, and while their stream has no leader:
 * a restarted server recovers its streams, or a cluster elects a leader after the last one failed. The server drops
 * messages that it has stored, because they have the same id.
 */
export const openPublisher = ({ connection, inbox, encode, withinMs }: PublisherOptions): StreamPublisher => {
  const prefix = `${inbox}.${randomBytes(6).toString('hex')}.`
  const pending = new Map<string, PendingMessage>()
  let published = 0
  const callback = (_error: Error | null, message: Msg) => {
    const sent = pending.get(message.subject)
    if (message.data.length === 0) sent?.sendLater()
    else sent?.acknowledge(message)
  }
  connection.subscribe(`${prefix}*`, { callback })
  void onReconnect(connection, () => {
    for (const { send } of pending.values()) send()
  })

  return async (subject, body, headers) => {
    const { promise, resolve, reject } = Promise.withResolvers<Msg>()
    const reply = prefix + (published += 1).toString(36)
    let sent = 0
    let isLeaderless = false
    const send = () => {
      sent += 1
      connection.publish(subject, body, { reply, headers: encode(headers) })
    }
    const sendLater = () => {
      isLeaderless = true
      setTimeout(() => pending.get(reply)?.send(), retryMs)
    }
    const late = setTimeout(() => {
      const reason = isLeaderless ? 'no responders' : `no acknowledgement from JetStream within ${withinMs} ms`
      reject(new Error(reason))
    }, withinMs)
    pending.set(reply, { send, sendLater, acknowledge: resolve })
    try {
      const { data } = await startInNextBatch(() => {
        send()
        return promise
      })
      const { duplicate, ...acknowledged } = PublishReply.parse(decodeJson(data))
      // The server also reports a message as a duplicate that this function has published twice.
      return { ...acknowledged, duplicate: duplicate && sent === 1 }
    } finally {
      clearTimeout(late)
      pending.delete(reply)
    }
  }
}

const onReconnect = async (connection: PublisherOptions['connection'], listener: () => void): Promise<void> => {
  for await (const { type } of connection.status()) if (type === 'reconnect') listener()
}
