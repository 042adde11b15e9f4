import type { Logger } from 'pino'
import type { z } from 'zod'
import type { ServiceName } from '#proto/call.ts'
import type { BusEvent } from '#proto/contract.ts'
import { decodeJson } from './body.ts'
import { encodeOutput } from './validate-payload.ts'
import type { BusLimits } from './limits.ts'
import { type EventSender, formatEventSubject, parseInboxOwner, readEventSender } from './subject.ts'
import type { Wire, WireMessage } from './wire.ts'

type Listener<P extends z.ZodType> = (payload: z.output<P>, sender: EventSender) => void

/** Publishes and receives events without acknowledgements. */
export class EventChannel {
  readonly #wire: Wire
  readonly #caller: ServiceName
  readonly #limits: BusLimits
  readonly #log: Logger | undefined

  constructor(wire: Wire, caller: ServiceName, limits: BusLimits, log: Logger | undefined) {
    this.#wire = wire
    this.#caller = caller
    this.#limits = limits
    this.#log = log
  }

  /** Publishes to all listeners. Failures are logged, because no caller awaits this. */
  emit<P extends z.ZodType>(event: BusEvent<P>, payload: z.input<P>): void {
    try {
      this.#wire.publish(
        formatEventSubject(parseInboxOwner(this.#wire.inbox), event.name),
        this.#encode(event, payload),
      )
    } catch (error) {
      this.#log?.error({ err: error, event: event.name }, 'event not published')
    }
  }

  /** Subscribes to an event; resolves when the subscription is active. Throws if the service may not listen to it. */
  async on<P extends z.ZodType>(event: BusEvent<P>, listener: Listener<P>): Promise<AsyncDisposable> {
    if (!event.listeners.includes(this.#caller))
      throw new Error(`service "${this.#caller}" is not allowed to listen to "${event.name}"`)
    const subscription = this.#wire.subscribe(formatEventSubject('*', event.name), (message) =>
      this.#hear(event, message, listener),
    )
    await this.#wire.flush()
    return { [Symbol.asyncDispose]: () => subscription.drain() }
  }

  #encode(event: BusEvent, payload: unknown): Uint8Array {
    if (!event.publishers.includes(this.#caller))
      throw new Error(`service "${this.#caller}" is not allowed to publish "${event.name}"`)
    const body = encodeOutput(event.payload, payload)
    const maxBytes = this.#limits.inputBytes
    if (body.byteLength > maxBytes)
      throw new Error(`event "${event.name}" too large: ${body.byteLength} bytes; the maximum is ${maxBytes}`)
    return body
  }

  #hear<P extends z.ZodType>(event: BusEvent<P>, message: WireMessage, listener: Listener<P>): void {
    try {
      const sender = readEventSender(message.subject)
      if (!sender || !event.publishers.includes(sender.service))
        throw new Error(`the sender is not allowed to publish the event: subject "${message.subject}"`)
      listener(event.payload.parse(decodeJson(message.body)), sender)
    } catch (error) {
      this.#log?.error({ err: error, event: event.name }, 'event dropped')
    }
  }
}
