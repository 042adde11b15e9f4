import type { ServiceName } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { decodeFailure } from './failure.ts'
import {
  type ControlMessage,
  type Frame,
  createControlHeaders,
  readFrame,
  FrameQueue,
  type StateRequest,
} from './frame.ts'
import type { Inbox, InboxAddress } from './inbox.ts'
import type { BusLimits } from './limits.ts'
import type { ConnectionListener, ConnectionMonitor } from './connection-monitor.ts'
import { type RequestSigner, signHeaders } from './signatures.ts'
import { type StateEvents, StateRequests } from './state-requests.ts'
import { isServiceInbox, parseResponder } from './subject.ts'
import type { Wire, WireHeaders, WireMessage } from './wire.ts'

/** The connection of a bus with the state that all its exchanges share. */
export interface BusChannel {
  wire: Wire
  inbox: Inbox
  link: ConnectionMonitor
  limits: BusLimits
  /** Undefined if requests are not signed, as in development without keys. */
  signatures?: RequestSigner | undefined
  /** The number of streams that this process is reading. */
  reading: { streams: number }
  /** The number of requests sent so far, from which each one gets its id. */
  sent: { requests: number }
}

/** A request in wire format. */
export interface WireRequest {
  service: ServiceName
  subject: string
  headers: WireHeaders
  body: Uint8Array
  timeLeftMs: number
  /** Aborts when the caller no longer waits. */
  signal: AbortSignal
  /** Whether the method is safe, so that a lost request can be sent to another instance. */
  isSafe: boolean
  /** The last tokens of the subject if it names one instance. */
  instance: string | undefined
  /** Returns the subject of requests for a state to one instance. */
  stateSubjectTo(instance: string): string
  /** Called when the exchange ends. */
  onEnd?: (() => void) | undefined
}

/** The whole response, or the head of a streamed one. */
export interface FirstFrame {
  kind: 'answer' | 'head'
  body: Uint8Array
}

/** Sends one request of this process and receives the frames of the response. */
export class RequestExchange implements StateEvents, ConnectionListener {
  readonly first: Promise<FirstFrame>
  /** True after a frame other than `working` arrived; a retry would then execute the request twice. */
  answered = false
  /** True if the subject has no subscribers, so the request was not executed. */
  unheard = false
  readonly #channel: BusChannel
  readonly #request: WireRequest
  readonly #service: ServiceName
  readonly #signal: AbortSignal
  readonly #address: InboxAddress
  readonly #deadline: NodeJS.Timeout
  readonly #states: StateRequests
  /** Distinguishes requests with the same reply subject, which is reused. */
  readonly #id: string
  readonly #first = Promise.withResolvers<FirstFrame>()
  readonly #frames = new FrameQueue()
  #expected = 0
  #repetitions = 0
  #consumed = 0
  #control: string | undefined
  #counted = false
  #ended = false
  #error: unknown
  #onEnd: ((error: unknown) => void) | undefined

  constructor(channel: BusChannel, request: WireRequest) {
    const { inbox, limits, link } = channel
    this.#channel = channel
    this.#request = request
    this.#service = request.service
    this.#signal = request.signal
    this.first = this.#first.promise
    // An aborted caller no longer awaits this promise, so its rejection must not be reported as unhandled.
    this.first.catch(() => {})
    this.#address = inbox.open(parseResponder(request.subject), (message) => this.#receive(message))
    this.#deadline = setTimeout(() => this.leave(createTimeoutError()), Math.min(request.timeLeftMs, limits.maxCallMs))
    channel.sent.requests += 1
    this.#id = channel.sent.requests.toString(36)
    this.#states = new StateRequests(channel, request, this)
    link.watch(this)
    this.#signal.addEventListener('abort', this.#abort)
    if (link.connected) this.#send()
    else void this.#sendOnceRestored()
  }

  /** Returns the next frame, or the tail at the end. Each returned frame grants the producer credit for another one. */
  async take(): Promise<{ frame: Uint8Array } | { tail: Uint8Array }> {
    const taken = await this.#frames.take()
    if ('frame' in taken && !this.#ended) {
      this.#consumed += 1
      // Grants credit for every second frame, which halves the messages without stalling the producer.
      if (this.#consumed % 2 === 0) this.#grant()
    }
    return taken
  }

  /**
   * Ends the exchange with `reason` and cancels the producer. If the inbox of the producer is still unknown, sends the
   * cancellation when its next frame arrives.
   */
  leave(reason: unknown): void {
    if (this.#ended) return
    this.#sendControl({ kind: 'cancel' })
    this.#end(reason)
    if (this.#control !== undefined) return
    this.#address.listen(({ reply }) => {
      this.#learnControl(reply)
      this.#sendControl({ kind: 'cancel' })
      this.#address.release()
    })
    setTimeout(() => this.#address.release(), this.#channel.limits.silenceMs).unref()
  }

  /** Calls the listener when the exchange ends, or immediately if it has ended. */
  onEnd(listener: (error: unknown) => void): void {
    if (this.#ended) listener(this.#error)
    else this.#onEnd = listener
  }

  async #sendOnceRestored(): Promise<void> {
    try {
      await this.#channel.link.restored()
      if (!this.#ended) this.#send()
    } catch (error) {
      this.#end(error)
    }
  }

  /** Sends the request, or sends it again with the same id, so that an instance that has received it ignores it. */
  #send(): void {
    const { subject, body, headers: stated } = this.#request
    const { subject: reply } = this.#address
    try {
      const headers = signHeaders(this.#channel.signatures, { subject, reply, headers: stated, body })
      this.#channel.wire.publish(subject, body, { headers: { ...headers, request: this.#id }, reply })
      this.#states.start()
    } catch (error) {
      this.#end(error)
    }
  }

  get awaited(): StateRequest {
    return { reply: this.#address.subject, id: this.#id, expected: this.#expected }
  }

  get isRepeatable(): boolean {
    return this.#request.isSafe && !this.answered
  }

  onUnknown(isUnreceived: boolean): void {
    const mayRepeat = this.isRepeatable || (isUnreceived && !this.answered)
    if (!mayRepeat || this.#repetitions === maxRepetitions) return this.onLost()
    this.#repetitions += 1
    this.#send()
  }

  onLost(): void {
    this.leave(createLostError())
  }

  onStalled(): void {
    this.leave(createStalledError())
  }

  onCutOff(error: ServiceError): void {
    this.leave(error)
  }

  onRestored(): void {
    this.#states.recheck()
  }

  #receive(message: WireMessage): void {
    if (message.unheard) {
      this.unheard = true
      const details = { running: false }
      return this.#close(
        new ServiceError('unavailable', `no process of service "${this.#service}" is running; start it and try again`, {
          details,
        }),
      )
    }
    const { request: id = this.#id } = message.headers
    const frame = readFrame(message)
    // A frame that was sent again may arrive after its exchange has ended and its address is reused.
    if (!frame || id !== this.#id) return
    this.#states.confirm()
    this.#learnControl(frame.control)
    this.answered ||= frame.kind !== 'working'
    try {
      this.#accept(frame)
    } catch (error) {
      this.leave(error instanceof ServiceError ? error : createDecodeError(error))
    }
  }

  /** Stores the control subject if it is an inbox of the called service. A compromised producer may name another. */
  #learnControl(reply: string | undefined): void {
    if (reply === undefined || !isServiceInbox(this.#service, reply)) return
    this.#control = reply
    this.#states.learnInbox(reply)
  }

  #accept({ kind, sequence, body }: Frame): void {
    if (kind === 'answer') return this.#answer(body)
    if (kind === 'error') return this.#close(decodeFailure(body))
    if (sequence !== this.#expected) throw new ServiceError('unavailable', 'part of the response was lost; try again')
    // Repeats the credit, which shows that the caller is alive and renews the permission of the producer to reply.
    if (kind === 'working') return this.#grant()
    this.#expected += 1
    if (kind === 'head') this.#begin(body)
    else if (kind === 'data') this.#queue(body)
    else this.#finish(body)
  }

  #answer(body: Uint8Array): void {
    this.#first.resolve({ kind: 'answer', body })
    this.#close()
  }

  #begin(body: Uint8Array): void {
    const { reading, limits } = this.#channel
    if (reading.streams >= limits.streamsPerConnection) throw createStreamLimitError(limits)
    reading.streams += 1
    this.#counted = true
    this.#first.resolve({ kind: 'head', body })
  }

  #queue(body: Uint8Array): void {
    if (this.#frames.length >= this.#channel.limits.creditFrames) throw createFlowControlError()
    this.#frames.push(body)
  }

  #finish(tail: Uint8Array): void {
    this.#frames.end(tail)
    this.#close()
  }

  #grant(): void {
    this.#sendControl({ kind: 'credit', consumed: this.#consumed })
  }

  #sendControl(control: ControlMessage): void {
    if (this.#control === undefined) return
    // The reply subject renews the permission of the producer to respond, which expires on a NATS server.
    const options = { headers: createControlHeaders(control), reply: this.#address.subject }
    this.#channel.wire.publish(this.#control, emptyBody, options)
  }

  readonly #abort = () => this.leave(this.#signal.reason)

  /** Ends the exchange; no more frames can arrive. */
  #close(error?: ServiceError): void {
    this.#end(error)
    // A repeated request may still get a second response, which another exchange must not receive.
    if (this.#repetitions === 0) this.#address.recycle()
  }

  #end(error: unknown): void {
    if (this.#ended) return
    this.#ended = true
    clearTimeout(this.#deadline)
    this.#states.stop()
    this.#channel.link.forget(this)
    this.#signal.removeEventListener('abort', this.#abort)
    this.#address.release()
    if (this.#counted) this.#channel.reading.streams -= 1
    this.#error = error
    this.#request.onEnd?.()
    this.#onEnd?.(error)
    if (error === undefined) return
    this.#first.reject(error)
    this.#frames.fail(error)
  }
}

const emptyBody = new Uint8Array(0)

/** How often a request is sent again to an instance that has not received it. */
const maxRepetitions = 3

/** Returns the error for a caller whose connection already reads the maximum number of streams. */
export const createStreamLimitError = ({ streamsPerConnection, busyRetryMs }: BusLimits): ServiceError =>
  new ServiceError('busy', `too many streams: this process already reads ${streamsPerConnection}; try again shortly`, {
    retryAfterMs: busyRetryMs,
  })

/** Returns the error for a caller whose deadline has passed. */
export const createTimeoutError = (): ServiceError => new ServiceError('timeout', 'the response timed out')

const createFlowControlError = () => new ServiceError('internal', 'the response exceeded its flow-control window')

const createDecodeError = (cause: unknown) => new ServiceError('internal', 'the response cannot be decoded', { cause })

const createLostError = () => new ServiceError('unavailable', 'the request or its response was lost; try again')

const createStalledError = () => new ServiceError('unavailable', 'the responding process stopped responding; try again')
