import type { ServiceName } from '#proto/call.ts'

/** The transport of a bus: publish and subscribe as in NATS core. */
export interface Wire extends AsyncDisposable {
  /** Whether the server can be reached. Messages that are published during an outage are lost. */
  readonly connected: boolean
  /** Prefix of subjects that only this connection may subscribe to. */
  readonly inbox: string
  /** Publishes a message at most once, without waiting. The publisher may reuse `body` after its next `await`. */
  publish(subject: string, body: Uint8Array, options?: PublishOptions): void
  /**
   * Subscribes to a pattern (`*` matches one token, a trailing `>` the rest); one member of a queue group gets each
   * message.
   */
  subscribe(pattern: string, listener: (message: WireMessage) => void, queueGroup?: string): Subscription
  /** Resolves when the server has received all previous subscriptions and messages. */
  flush(): Promise<void>
  /** Adds a listener that is called on each change of `connected`. */
  onConnection(listener: (connected: boolean) => void): void
}

/** A transport that connects the buses of one or many processes. */
export interface Hub {
  /** Connects one bus. Throws if the server rejects the connection or lacks a required feature. */
  connect(endpoint: ServiceInstance): Promise<Wire>
}

/** The service and instance of a connection. */
export interface ServiceInstance {
  caller: ServiceName
  instance: string
}

/** Headers of a message; values contain no line breaks. */
export type WireHeaders = Readonly<Record<string, string>>

/** Options of a published message. */
export interface PublishOptions {
  headers?: WireHeaders
  /** Subject for the reply. If the message has no subscribers, an `unheard` message is delivered to this subject. */
  reply?: string | undefined
}

/** A message as the transport delivers it. */
export interface WireMessage {
  subject: string
  body: Uint8Array
  headers: WireHeaders
  reply: string | undefined
  /** True if this message reports that the subject of a request has no subscribers. */
  unheard: boolean
}

/** A subscription that can end without losing messages in flight. */
export interface Subscription {
  /** Stops new messages; resolves when messages in flight have reached the listener. */
  drain(): Promise<void>
}
