import type { Consumer as NatsConsumer, ConsumerConfig, JetStreamManager, JsMsg, NatsConnection } from 'nats'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { ServiceError } from '#proto/errors.ts'
import { connectTo, tellConnection } from '../nats-connection.ts'
import { encodeWith } from '../nats-headers.ts'
import type { Endpoint } from '../wire.ts'
import { createQueue } from './create-queue.ts'
import type { Attached, QueueDriver, StoredMessage, Taken } from './driver.ts'
import { type QueueLimits, defaultQueueLimits } from './limits.ts'
import { full } from './memory-stream.ts'
import { type Publish, openPublisher } from './nats-publisher.ts'
import { ensureStreams, isMissing, nanoseconds, openJetStream } from './nats-streams.ts'
import type { Queue } from './queue.ts'
import { type AnyStream, streamNames } from './streams.ts'
import { together } from './together.ts'

interface NatsQueueOptions {
  url: string
  user?: string | undefined
  password?: string | undefined
  /** How many servers keep each message. */
  replicas: number
  log?: Logger | undefined
  limits?: Partial<QueueLimits>
  metrics?: Registry | undefined
}

/** A queue on JetStream, with a connection of its own; throws `unavailable` for a server that cannot keep messages. */
export const openNatsQueue = async (options: NatsQueueOptions, endpoint: Endpoint): Promise<Queue> => {
  const limits = { ...defaultQueueLimits, ...options.limits }
  const { connection, inbox, nats } = await connectTo(options, endpoint)
  try {
    const manager = await openJetStream(connection)
    const ensure = () => ensureStreams(manager, streamNames, { limits, replicas: options.replicas })
    await ensure()
    const encode = encodeWith(nats.MsgHdrsImpl)
    const publish = openPublisher({ connection, inbox, encode, withinMs: limits.publishWithinMs })
    const log = options.log?.child({ connection: `${endpoint.caller}, queue` })
    const driver = new NatsQueue({ connection, manager, publish, limits, ensure, log })
    return createQueue({ driver, limits, log: options.log, metrics: options.metrics })
  } catch (error) {
    await connection.close()
    throw error
  }
}

interface Opened {
  connection: NatsConnection
  manager: JetStreamManager
  publish: Publish
  limits: QueueLimits
  ensure: () => Promise<void>
  log: Logger | undefined
}

class NatsQueue implements QueueDriver {
  readonly #connection: NatsConnection
  readonly #manager: JetStreamManager
  readonly #publish: Publish
  readonly #limits: QueueLimits
  readonly #ensure: () => Promise<void>
  readonly #log: Logger | undefined
  /** As they were made: whoever asked for one each time would wait for an answer that a lost connection took along. */
  readonly #consumers = new WeakMap<Attached, NatsConsumer>()
  #connected = true

  constructor({ connection, manager, publish, limits, ensure, log }: Opened) {
    this.#connection = connection
    this.#manager = manager
    this.#publish = publish
    this.#limits = limits
    this.#ensure = ensure
    this.#log = log
    void this.#watch()
  }

  get connected(): boolean {
    return this.#connected
  }

  async store(stream: AnyStream, { subject, id, body }: StoredMessage): Promise<{ duplicate: boolean }> {
    // The client would keep it and send it when nobody waits any more.
    if (!this.#connected) throw unavailable()
    const headers = { 'Nats-Msg-Id': id, 'Nats-Expected-Stream': stream }
    const said = await this.#publish(subject, body, headers).catch((cause: unknown) => {
      throw unavailable(cause)
    })
    if (said.error === undefined && said.stream === stream) return { duplicate: said.duplicate }
    throw fullCodes.has(said.error?.err_code ?? 0) ? full(stream) : unavailable(said.error)
  }

  async attach(attached: Attached): Promise<void> {
    const { stream, name, subjects } = attached
    await this.#ensure()
    // The client's enumerations are these words.
    const words = { ack_policy: 'explicit', deliver_policy: 'all' } as Pick<
      ConsumerConfig,
      'ack_policy' | 'deliver_policy'
    >
    const known = await this.#manager.consumers.add(stream, {
      ...words,
      durable_name: name,
      filter_subject: subjects,
      ack_wait: nanoseconds(this.#limits.ackWaitMs),
      max_ack_pending: this.#limits.maxPending,
      // Ends are ours to decide: beyond a number of its own the server would leave messages behind that nobody gets.
      max_deliver: -1,
    })
    this.#consumers.set(attached, this.#connection.jetstream().consumers.getPullConsumerFor(known))
  }

  async *take(attached: Attached, max: number, signal: AbortSignal): AsyncGenerator<Taken> {
    const consumer = this.#consumers.get(attached)
    if (consumer === undefined || !this.#connected) throw unavailable()
    const messages = await consumer.fetch({ max_messages: max, expires: this.#limits.pullMs })
    const stop = () => messages.stop()
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    try {
      for await (const message of messages) yield takenFrom(message, attached.mayRepeat)
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  async lag({ stream, name }: Attached): Promise<number> {
    const { num_pending: waiting, num_ack_pending: inHand } = await this.#manager.consumers.info(stream, name)
    return waiting + inHand
  }

  async lastDead(): Promise<number> {
    const { state } = await this.#manager.streams.info('DLQ')
    return state.messages === 0 ? 0 : state.last_seq
  }

  async dead(sequence: number): Promise<Uint8Array | undefined> {
    const message = await this.#manager.streams.getMessage('DLQ', { seq: sequence }).catch(undefinedWhenMissing)
    return message?.data
  }

  async removeDead(sequence: number): Promise<boolean> {
    const removed = await this.#manager.streams.deleteMessage('DLQ', sequence, false).catch(undefinedWhenMissing)
    return removed ?? false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connected = false
    await this.#connection.close()
  }

  async #watch(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (type === 'disconnect') this.#change(false)
      else if (type === 'reconnect') this.#change(true)
    }
  }

  #change(connected: boolean): void {
    this.#connected = connected
    tellConnection(this.#log, connected)
  }
}

const takenFrom = (message: JsMsg, mayRepeat: boolean): Taken => ({
  subject: message.subject,
  get id() {
    return message.headers?.get('Nats-Msg-Id') ?? ''
  },
  body: message.data,
  deliveries: message.info.deliveryCount,
  ageMs: Math.max(0, Date.now() - message.info.timestampNanos / nanoseconds(1)),
  done: async () => {
    if (mayRepeat) return together(() => message.ack())
    // Without an answer it is handed over again, and its handler finds that it was dealt with.
    if (!(await together(() => message.ackAck()))) throw unavailable()
  },
  again: (inMs) => message.nak(Math.max(1, Math.round(inMs))),
  working: () => message.working(),
})

const unavailable = (cause?: unknown): ServiceError =>
  new ServiceError('unavailable', 'the queue does not answer', { retryAfterMs: 1_000, cause })

/** What JetStream answers when a stream that refuses new messages is at its limit. */
const fullCodes: ReadonlySet<number> = new Set([10_054, 10_077])

const undefinedWhenMissing = (error: unknown): undefined => {
  if (isMissing(error)) return undefined
  throw unavailable(error)
}
