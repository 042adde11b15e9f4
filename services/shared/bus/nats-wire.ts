import type { Logger } from 'pino'
import type { ConnectionOptions, Msg, MsgHdrs, NatsConnection, Subscription as NatsSubscription } from 'nats'
import { ServiceError } from '#proto/errors.ts'
import { inboxPrefix } from './subject.ts'
import type { Hub, PublishOptions, Subscription, Wire, WireHeaders, WireMessage } from './wire.ts'

/** How to reach a NATS server. User and password may also be part of the URL. */
export interface NatsHubOptions {
  /** One address, or several separated by commas. */
  url: string
  user?: string | undefined
  password?: string | undefined
  /** Told of connections that are lost or found again, and of what the server refuses. */
  log?: Logger | undefined
}

const connectWithinMs = 5_000
const flushWithinMs = 5_000
/** A server that was restarted is found again well within the time after which callers give up. */
const reconnectEveryMs = 200
/** With two pings unanswered, a server that vanished without a word is noticed in 30 seconds. */
const pingEveryMs = 10_000
const pingsUnanswered = 2
const neededPayloadBytes = 1_000_000

/** A hub whose buses meet on a NATS server, each with a connection of its own. */
export const openNatsHub = (options: NatsHubOptions): Hub => ({
  async connect(endpoint) {
    // Loaded only where there is a server: the monolith does without.
    const nats = await import('nats')
    const settings: ConnectionOptions = {
      ...credentials(options),
      name: `${endpoint.caller}.${endpoint.instance}`,
      inboxPrefix: inboxPrefix(endpoint),
      timeout: connectWithinMs,
      maxReconnectAttempts: -1,
      reconnectTimeWait: reconnectEveryMs,
      reconnectJitter: reconnectEveryMs / 2,
      pingInterval: pingEveryMs,
      maxPingOut: pingsUnanswered,
    }
    const connection = await nats.connect(settings).catch((cause: unknown) => {
      throw new ServiceError('unavailable', `cannot connect to NATS at ${String(settings.servers)}: ${String(cause)}`, {
        cause,
      })
    })
    const missing = missingFeature(connection)
    if (missing === undefined) return new NatsWire(connection, nats.headers, options.log)
    await connection.close()
    throw new ServiceError('unavailable', `the NATS server ${missing}`)
  },
})

/** Addresses and credentials apart, as the client takes them. */
const credentials = ({ url, user, password }: NatsHubOptions): ConnectionOptions => {
  const addresses = url.split(',').map((address) => new URL(address.trim()))
  const [first] = addresses
  const name = user ?? decodeURIComponent(first?.username ?? '')
  return {
    servers: addresses.map(({ host }) => host),
    ...(name !== '' && { user: name, pass: password ?? decodeURIComponent(first?.password ?? '') }),
    ...(first?.protocol === 'tls:' && { tls: {} }),
  }
}

const missingFeature = ({ info }: NatsConnection): string | undefined => {
  if (!info?.headers) return 'is older than 2.2 and carries no headers'
  if (info.max_payload >= neededPayloadBytes) return undefined
  return `accepts ${info.max_payload} bytes a message; max_payload must be at least ${neededPayloadBytes}`
}

class NatsWire implements Wire {
  readonly #connection: NatsConnection
  readonly #makeHeaders: () => MsgHdrs
  readonly #log: Logger | undefined
  readonly #listeners: ((connected: boolean) => void)[] = []
  #connected = true
  #refused: Error | undefined

  constructor(connection: NatsConnection, makeHeaders: () => MsgHdrs, log: Logger | undefined) {
    this.#connection = connection
    this.#log = log
    this.#makeHeaders = makeHeaders
    void this.#watch()
  }

  get connected(): boolean {
    return this.#connected
  }

  publish(subject: string, body: Uint8Array, { headers, reply }: PublishOptions = {}): void {
    // The client would keep it and send it after nobody waits any more, or drop it when it dials again.
    if (!this.#connected) return
    this.#connection.publish(subject, body, { headers: headers && this.#encode(headers), reply })
  }

  subscribe(pattern: string, listener: (message: WireMessage) => void, queueGroup?: string): Subscription {
    const callback = (error: Error | null, message: Msg) => {
      if (error) this.#refused = error
      else listener(decode(message))
    }
    const subscription = this.#connection.subscribe(pattern, { queue: queueGroup, callback })
    return { drain: () => drain(subscription) }
  }

  async flush(): Promise<void> {
    if (this.#connected) await this.#flushed()
    if (this.#refused) throw new Error('the NATS server refuses a subscription', { cause: this.#refused })
  }

  onConnection(listener: (connected: boolean) => void): void {
    this.#listeners.push(listener)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#connected) await this.#flushed()
    this.#connected = false
    await this.#connection.close()
  }

  /** Also resolves when the connection is lost or too slow: then there is nothing left to wait for. */
  async #flushed(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, flushWithinMs)
    await Promise.race([this.#connection.flush().catch(() => {}), promise])
    clearTimeout(timer)
  }

  #encode(headers: WireHeaders): MsgHdrs {
    const encoded = this.#makeHeaders()
    for (const [name, value] of Object.entries(headers)) encoded.append(name, value)
    return encoded
  }

  async #watch(): Promise<void> {
    for await (const { type, data, permissionContext } of this.#connection.status()) {
      if (type === 'disconnect') this.#change(false)
      else if (type === 'reconnect') this.#change(true)
      else if (type === 'error') this.#log?.error({ code: data, ...permissionContext }, 'NATS refused')
    }
  }

  #change(connected: boolean): void {
    this.#connected = connected
    if (connected) this.#log?.info('connection to NATS restored')
    else this.#log?.warn('connection to NATS lost')
    for (const listener of this.#listeners) listener(connected)
  }
}

const noResponders = 503

const decode = (message: Msg): WireMessage => {
  const { subject, data, headers, reply } = message
  const fields: Record<string, string> = {}
  for (const [name, [value = '']] of headers ?? []) fields[name] = value
  const unheard = data.byteLength === 0 && headers?.code === noResponders
  return { subject, body: data, headers: fields, reply: reply === '' ? undefined : reply, unheard }
}

/** A connection that is lost or closed has nothing more under way. */
const drain = (subscription: NatsSubscription): Promise<void> => subscription.drain().catch(() => {})
