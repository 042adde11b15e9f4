import type { ServiceName } from '#proto/call.ts'

/** What a bus needs of its transport: publish and subscribe as NATS core has them. The protocol above it exists once. */
export interface Wire extends AsyncDisposable {
  /** False while the server cannot be reached; what is published then is lost. */
  readonly connected: boolean
  /** What subjects begin with that only this connection hears. */
  readonly inbox: string
  /** Hands a message over; at most once, never waits. The wire has copied or sent `body` before a caller that awaits anything goes on. */
  publish(subject: string, body: Uint8Array, options?: PublishOptions): void
  /** Hears subjects that match a pattern (`*` is one token, a last `>` the rest); one member of a queue group gets each message. */
  subscribe(pattern: string, listener: (message: WireMessage) => void, queueGroup?: string): Subscription
  /** Resolves when the server knows every subscription made, and has every message published, before this call. */
  flush(): Promise<void>
  /** Called at each change of `connected`. */
  onConnection(listener: (connected: boolean) => void): void
}

/** A connection point for the buses of one or many processes. */
export interface Hub {
  /** One connection for one bus. Throws when the server refuses it or lacks a feature. */
  connect(endpoint: Endpoint): Promise<Wire>
}

/** Who connects. */
export interface Endpoint {
  caller: ServiceName
  instance: string
}

/** Small text that travels beside a body; values hold no line breaks. */
export type WireHeaders = Readonly<Record<string, string>>

/** What goes along with a published body. */
export interface PublishOptions {
  headers?: WireHeaders
  /** Subject on which a reply is expected; a missing listener is reported there as `unheard`. */
  reply?: string | undefined
}

/** A message as the transport delivers it. */
export interface WireMessage {
  subject: string
  body: Uint8Array
  headers: WireHeaders
  reply: string | undefined
  /** True when the transport reports that the subject of a request has no subscribers. */
  unheard: boolean
}

/** A subscription that can end without losing what is on its way. */
export interface Subscription {
  /** Stops new messages; resolves when those already on their way have reached the listener. */
  drain(): Promise<void>
}
