import type { Logger } from 'pino'
import type { Msg, NatsConnection, Subscription as NatsSubscription } from 'nats'
import {
  connectToNats,
  type HeaderEncoder,
  createHeaderEncoder,
  logConnection,
  type NatsHubOptions,
} from './nats-connection.ts'
import type { Hub, PublishOptions, Subscription, Wire, WireMessage } from './wire.ts'

const flushWithinMs = 5_000
/** Messages up to this size are sent together with others of the same event-loop iteration. */
const maxBatchedBytes = 16 * 1024

/** Opens a hub on a NATS server; each bus has its own connection. */
export const openNatsHub = (options: NatsHubOptions): Hub => ({
  async connect(endpoint) {
    const { connection, inbox, nats } = await connectToNats(options, endpoint)
    return new NatsWire({
      connection,
      inbox,
      encode: createHeaderEncoder(nats.MsgHdrsImpl),
      log: options.log?.child({ connection: endpoint.caller }),
    })
  },
})

interface NatsWireParts {
  connection: NatsConnection
  inbox: string
  encode: HeaderEncoder
  log: Logger | undefined
}

interface OutgoingMessage {
  subject: string
  body: Uint8Array
  options: PublishOptions
}

class NatsWire implements Wire {
  readonly inbox: string
  readonly #connection: NatsConnection
  readonly #encode: HeaderEncoder
  readonly #log: Logger | undefined
  readonly #listeners: ((connected: boolean) => void)[] = []
  #connected = true
  #leaving: OutgoingMessage[] = []
  #refused: Error | undefined

  constructor({ connection, inbox, encode, log }: NatsWireParts) {
    this.inbox = inbox
    this.#connection = connection
    this.#log = log
    this.#encode = encode
    void this.#watch()
  }

  get connected(): boolean {
    return this.#connected
  }

  publish(subject: string, body: Uint8Array, options: PublishOptions = {}): void {
    if (body.byteLength > maxBatchedBytes) {
      this.#sendLeaving()
      this.#send({ subject, body, options })
      return
    }
    // Copied, because the publisher may reuse its buffer.
    this.#leaving.push({ subject, body: Buffer.from(body), options })
    if (this.#leaving.length === 1) setImmediate(() => this.#sendLeaving())
  }

  subscribe(pattern: string, listener: (message: WireMessage) => void, queueGroup?: string): Subscription {
    const callback = (error: Error | null, message: Msg) => {
      if (error) this.#refused = error
      else listener(decode(message))
    }
    this.#sendLeaving()
    const subscription = this.#connection.subscribe(pattern, { queue: queueGroup, callback })
    return {
      drain: () => {
        this.#sendLeaving()
        return drainSubscription(subscription)
      },
    }
  }

  async flush(): Promise<void> {
    this.#sendLeaving()
    if (this.#connected) await this.#flushed()
    if (this.#refused)
      throw new Error('the NATS server rejected a subscription; check the permissions of the user', {
        cause: this.#refused,
      })
  }

  onConnection(listener: (connected: boolean) => void): void {
    this.#listeners.push(listener)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#sendLeaving()
    if (this.#connected) await this.#flushed()
    this.#connected = false
    await this.#connection.close()
  }

  /**
   * Sends all messages of one event-loop iteration in one write, which wakes the server once. Called before any other
   * operation, to preserve the order.
   */
  #sendLeaving(): void {
    const leaving = this.#leaving
    this.#leaving = []
    for (const message of leaving) this.#send(message)
  }

  #send({ subject, body, options: { headers, reply } }: OutgoingMessage): void {
    // While disconnected, the client would buffer the message and send it after the caller gave up.
    if (!this.#connected || this.#connection.isClosed()) return
    this.#connection.publish(subject, body, { headers: headers && this.#encode(headers), reply })
  }

  /** Resolves when the server has received all messages, or when the connection is lost or too slow. */
  async #flushed(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, flushWithinMs)
    await Promise.race([this.#connection.flush().catch(() => {}), promise])
    clearTimeout(timer)
  }

  async #watch(): Promise<void> {
    for await (const { type, data, permissionContext } of this.#connection.status()) {
      if (type === 'disconnect') this.#change(false)
      else if (type === 'reconnect') this.#change(true)
      else if (type === 'error') this.#log?.error({ code: data, ...permissionContext }, 'NATS server error')
    }
  }

  #change(connected: boolean): void {
    this.#connected = connected
    logConnection(this.#log, connected)
    for (const listener of this.#listeners) listener(connected)
  }
}

const noRespondersCode = 503

const decode = (message: Msg): WireMessage => {
  const { subject, data, headers, reply } = message
  const fields: Record<string, string> = {}
  for (const [name, [value = '']] of headers ?? []) fields[name] = value
  const unheard = data.byteLength === 0 && headers?.code === noRespondersCode
  return { subject, body: data, headers: fields, reply: reply === '' ? undefined : reply, unheard }
}

/** Drains a subscription. Ignores a lost or closed connection, which has no messages in flight. */
const drainSubscription = (subscription: NatsSubscription): Promise<void> => subscription.drain().catch(() => {})
