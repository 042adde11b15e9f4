import { systemClock } from '../../time/clock.ts'
import type { Consumer as NatsConsumer, ConsumerInfo, JetStreamManager, JsMsg, NatsConnection } from 'nats'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { ServiceError } from '#proto/errors.ts'
import { connectToNats, createHeaderEncoder, logConnection } from '../nats-connection.ts'
import type { ServiceInstance } from '../wire.ts'
import { createQueue } from './create-queue.ts'
import type { ClaimedMessage, QueueDriver, ResolvedConsumer, StoredMessage } from './driver.ts'
import { defaultQueueLimits, type QueueLimits } from './limits.ts'
import { createStreamFullError } from './memory-stream.ts'
import { openPublisher, type StreamPublisher } from './nats-publisher.ts'
import { parseServerAddress, describeJetStreamError, describePublishFailure, formatServerName } from './nats-failure.ts'
import {
  ensureConsumer,
  ensureStreams,
  isJetStreamNotFoundError,
  toNanoseconds,
  openJetStream,
} from './nats-streams.ts'
import type { Queue } from './queue.ts'
import { type AnyStreamName, streamNames } from './streams.ts'
import { startInNextBatch } from './batches.ts'

interface NatsQueueOptions {
  url: string
  user?: string | undefined
  password?: string | undefined
  /** Number of replicas of each message. */
  replicas: number
  /** False if another user creates streams and consumers; then the queue waits for them. Default: true. */
  creates?: boolean
  log?: Logger | undefined
  limits?: Partial<QueueLimits>
  metrics?: Registry | undefined
}

/** Opens a queue on JetStream with its own connection. Throws `unavailable` if the server cannot store messages. */
export const openNatsQueue = async (options: NatsQueueOptions, endpoint: ServiceInstance): Promise<Queue> => {
  const limits = { ...defaultQueueLimits, ...options.limits }
  const { connection, inbox, nats } = await connectToNats(options, endpoint)
  try {
    const manager = await openJetStream(connection)
    const { replicas, creates = true } = options
    const where = { address: parseServerAddress(options.url), limits, replicas }
    const ensure = creates ? () => ensureStreams(manager, streamNames, where) : undefined
    await ensure?.()
    const encode = createHeaderEncoder(nats.MsgHdrsImpl)
    const publish = openPublisher({ connection, inbox, encode, withinMs: limits.publishWithinMs })
    const log = options.log?.child({ connection: `${endpoint.caller}, queue` })
    const driver = new NatsQueue({ connection, manager, publish, limits, ensure, log, address: where.address })
    return createQueue({ driver, limits, log: options.log, metrics: options.metrics })
  } catch (error) {
    await connection.close()
    throw error
  }
}

interface NatsQueueParts {
  connection: NatsConnection
  manager: JetStreamManager
  publish: StreamPublisher
  limits: QueueLimits
  /** Creates the streams; undefined if another user creates them. */
  ensure: (() => Promise<void>) | undefined
  log: Logger | undefined
  /** Address of the server, without user and password. */
  address: string
}

class NatsQueue implements QueueDriver {
  readonly #connection: NatsConnection
  readonly #manager: JetStreamManager
  readonly #publish: StreamPublisher
  readonly #limits: QueueLimits
  readonly #ensure: NatsQueueParts['ensure']
  readonly #log: Logger | undefined
  /** Cached consumers. A look-up for each pull could wait for a response that was lost with a connection. */
  readonly #consumers = new WeakMap<ResolvedConsumer, NatsConsumer>()
  readonly #address: string
  #connected = true
  /** Why the last publish failed; undefined after a successful one. */
  #failure: string | undefined
  /** Why streams or consumers could not be created; undefined after they were created. */
  #uncreated: string | undefined

  constructor({ connection, manager, publish, limits, ensure, log, address }: NatsQueueParts) {
    this.#address = address
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

  get problem(): string | undefined {
    return this.#connected
      ? (this.#failure ?? this.#uncreated)
      : `${formatServerName(this.#address)}: does not respond; check that it is running`
  }

  async store(stream: AnyStreamName, { subject, id, body }: StoredMessage): Promise<{ duplicate: boolean }> {
    // The client would buffer the message and send it after the caller gave up.
    if (!this.#connected) throw createUnavailableError()
    const headers = { 'Nats-Msg-Id': id, 'Nats-Expected-Stream': stream }
    const said = await this.#publish(subject, body, headers).catch((cause: unknown) => {
      throw this.#failed(describePublishFailure(cause), cause)
    })
    if (said.error === undefined && said.stream === stream) {
      this.#failure = undefined
      return { duplicate: said.duplicate }
    }
    const code = said.error?.err_code ?? 0
    if (streamFullCodes.has(code)) {
      this.#failure = createStreamFullError(stream).message
      throw createStreamFullError(stream)
    }
    throw this.#failed(describeJetStreamError(code, said.error?.description), said.error)
  }

  #failed(reason: string, cause: unknown): ServiceError {
    const sentence = `${formatServerName(this.#address)}: ${reason}`
    if (this.#failure !== sentence) this.#log?.warn({ reason: sentence }, 'message not stored')
    this.#failure = sentence
    return new ServiceError('unavailable', sentence, { retryAfterMs: 1_000, cause })
  }

  async attach(attached: ResolvedConsumer): Promise<void> {
    const known = await this.#attached(attached).catch((error: unknown) => {
      this.#uncreated = error instanceof Error ? error.message : String(error)
      throw error
    })
    this.#uncreated = undefined
    if (known) this.#consumers.set(attached, this.#connection.jetstream().consumers.getPullConsumerFor(known))
    else this.#consumers.delete(attached)
  }

  /** Creates the consumer, or looks it up if another user creates it; undefined if it does not exist yet. */
  async #attached(attached: ResolvedConsumer): Promise<ConsumerInfo | undefined> {
    const { stream, name } = attached
    if (!this.#ensure) return this.#manager.consumers.info(stream, name).catch(undefinedWhenMissing)
    await this.#ensure()
    return ensureConsumer(this.#manager, attached, this.#limits)
  }

  async *take(attached: ResolvedConsumer, max: number, signal: AbortSignal): AsyncGenerator<ClaimedMessage> {
    const consumer = this.#consumers.get(attached)
    if (!this.#connected) throw createUnavailableError()
    if (consumer === undefined) throw createMissingConsumerError(attached)
    const messages = await consumer.fetch({ max_messages: max, expires: this.#limits.pullMs })
    const stop = () => messages.stop()
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    try {
      for await (const message of messages) yield toClaimedMessage(message, attached.mayRepeat)
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  async backlog({ stream, name }: ResolvedConsumer): Promise<number> {
    const info = await this.#manager.consumers.info(stream, name).catch((cause: unknown) => {
      throw createUnavailableError(cause)
    })
    // If the server lost the stream, it also lost the consumer, and the request above has failed.
    return info.num_pending + info.num_ack_pending
  }

  async lastDead(stream: AnyStreamName): Promise<number> {
    const { state } = await this.#manager.streams.info(stream)
    return state.messages === 0 ? 0 : state.last_seq
  }

  async dead(stream: AnyStreamName, sequence: number): Promise<Uint8Array | undefined> {
    const message = await this.#manager.streams.getMessage(stream, { seq: sequence }).catch(undefinedWhenMissing)
    return message?.data
  }

  async removeDead(stream: AnyStreamName, sequence: number): Promise<boolean> {
    const removed = await this.#manager.streams.deleteMessage(stream, sequence, false).catch(undefinedWhenMissing)
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
    logConnection(this.#log, connected)
  }
}

const toClaimedMessage = (message: JsMsg, mayRepeat: boolean): ClaimedMessage => ({
  subject: message.subject,
  get id() {
    return message.headers?.get('Nats-Msg-Id') ?? ''
  },
  body: message.data,
  deliveries: message.info.deliveryCount,
  ageMs: Math.max(0, systemClock.now() - message.info.timestampNanos / toNanoseconds(1)),
  done: async () => {
    if (mayRepeat) return startInNextBatch(() => message.ack())
    // Without a confirmation, the message is redelivered, and its handler recognizes that it was already handled.
    if (!(await startInNextBatch(() => message.ackAck()))) throw createUnavailableError()
  },
  again: (inMs) => message.nak(Math.max(1, Math.round(inMs))),
  working: () => message.working(),
})

const createUnavailableError = (cause?: unknown): ServiceError =>
  new ServiceError('unavailable', 'the queue is unreachable', { retryAfterMs: 1_000, cause })

const createMissingConsumerError = ({ stream, name }: ResolvedConsumer): ServiceError =>
  new ServiceError(
    'unavailable',
    `consumer "${name}" of stream "${stream}" is missing; start gateway, which creates it`,
  )

/** Error codes of JetStream for a full stream that rejects new messages. */
const streamFullCodes: ReadonlySet<number> = new Set([10_054, 10_077])

const undefinedWhenMissing = (error: unknown): undefined => {
  if (isJetStreamNotFoundError(error)) return undefined
  throw createUnavailableError(error)
}
