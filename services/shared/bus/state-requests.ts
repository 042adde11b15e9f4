import type { ServiceName } from '#proto/call.ts'
import type { ConnectionMonitor } from './connection-monitor.ts'
import { createStateRequestHeaders, readState, type StateRequest } from './frame.ts'
import type { Inbox, InboxAddress } from './inbox.ts'
import type { BusLimits } from './limits.ts'
import { parseInboxInstance, parseResponder } from './subject.ts'
import type { Wire, WireMessage } from './wire.ts'

/** The part of a channel that state requests use. */
interface StateChannel {
  wire: Wire
  inbox: Inbox
  link: ConnectionMonitor
  limits: BusLimits
}

/** The request whose state is requested. */
interface TrackedRequest {
  service: ServiceName
  /** The last tokens of the subject of the instance; undefined while any instance may have received the request. */
  instance: string | undefined
  /** Returns the subject of requests for a state to one instance. */
  stateSubjectTo(instance: string): string
}

/** Reactions of an exchange to the state of its request. */
export interface StateEvents {
  /** The request, and the frame that its caller awaits. */
  readonly awaited: StateRequest
  /** Whether another attempt can replace this one. */
  readonly isRepeatable: boolean
  /**
   * The instance does not know the request. With `isUnreceived`, it has received none of its attempts; otherwise it may
   * have finished the request.
   */
  onUnknown(isUnreceived: boolean): void
  /** The instance is not connected any more, or the response was lost and is not kept. */
  onLost(): void
  /** Neither the instance nor the server responds. */
  onStalled(): void
}

/**
 * Watches over one request while no frames arrive. It requests the state from the instance at regular
 * intervals, and after each restored connection. The server reports at once if the instance is not connected.
 */
export class StateRequests {
  readonly #channel: StateChannel
  readonly #request: TrackedRequest
  readonly #events: StateEvents
  #instance: string | undefined
  #address: InboxAddress | undefined
  #timer: NodeJS.Timeout | undefined
  /** State requests without a response. */
  #pending = 0
  #confirmedMs = 0
  #sentMs = 0
  #missingSinceMs: number | undefined
  #stopped = false

  constructor(channel: StateChannel, request: TrackedRequest, events: StateEvents) {
    this.#channel = channel
    this.#request = request
    this.#events = events
    this.#instance = request.instance
  }

  /** Starts the intervals; called each time the request is sent. */
  start(): void {
    this.confirm()
    this.#sentMs = this.#confirmedMs
    const { stateEveryMs, silenceMs } = this.#channel.limits
    this.#timer ??= setInterval(() => this.#check(), Math.min(stateEveryMs, silenceMs))
  }

  /** Records that the instance is handling the request. */
  confirm(): void {
    this.#confirmedMs = performance.now()
    this.#missingSinceMs = undefined
  }

  /** Records which instance handles the request, from the inbox for control messages. */
  learnInbox(inbox: string): void {
    this.#instance ??= parseInboxInstance(this.#request.service, inbox)
  }

  /** Requests the state after a disconnection, in which the request or its response may have been lost. */
  recheck(): void {
    if (this.#timer === undefined) return
    this.confirm()
    if (this.#instance !== undefined) this.#requestState()
    else if (this.#events.isRepeatable) this.#events.onLost()
  }

  /** Stops the intervals; responses that are still on their way are dropped. */
  stop(): void {
    this.#stopped = true
    clearInterval(this.#timer)
    if (this.#pending === 0) this.#address?.recycle()
    else this.#address?.release()
  }

  /**
   * Checks after the current iteration of the event loop. If this process was blocked, the timer runs before the frames
   * that have already arrived.
   */
  #check(): void {
    setImmediate(() => {
      if (this.#stopped || !this.#channel.link.connected) return
      const { silenceMs, stateEveryMs } = this.#channel.limits
      const silentMs = performance.now() - this.#confirmedMs
      if (silentMs >= silenceMs) this.#events.onStalled()
      else if (silentMs >= stateEveryMs / 2 && this.#instance !== undefined) this.#requestState()
    })
  }

  #requestState(): void {
    if (this.#instance === undefined || this.#stopped) return
    const subject = this.#request.stateSubjectTo(this.#instance)
    this.#address ??= this.#channel.inbox.open(parseResponder(subject), (message) => this.#receive(message))
    this.#pending += 1
    const headers = createStateRequestHeaders(this.#events.awaited)
    this.#channel.wire.publish(subject, emptyBody, { headers, reply: this.#address.subject })
  }

  #receive(message: WireMessage): void {
    this.#pending -= 1
    if (message.unheard) return this.#miss()
    const response = readState(message)
    // A process of an older release responds with an error.
    if (response === undefined) return
    if (response.state === 'running') return this.confirm()
    // An instance sends the kept frames of a finished request before its state.
    if (response.state === 'finished') return this.#events.onLost()
    this.#events.onUnknown(response.knownMs >= performance.now() - this.#sentMs + marginMs)
  }

  /**
   * Handles that the instance is not connected. It may be reconnecting and still handle the request, so only a request
   * that can be repeated elsewhere is given up at once.
   */
  #miss(): void {
    const nowMs = performance.now()
    this.#missingSinceMs ??= nowMs
    const isGone = nowMs - this.#missingSinceMs >= this.#channel.limits.missingMs
    if (isGone || this.#events.isRepeatable) this.#events.onLost()
  }
}

const emptyBody = new Uint8Array(0)

/** Tolerance for the time that a request and its state request take. */
const marginMs = 1_000
