import { once } from 'node:events'
import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'

/** Limits of a run; tests use shorter times. */
export const runLimits = {
  bufferBytes: 4 * 1024 * 1024,
  /** Time until a run without a reader is stopped, in milliseconds. */
  abandonedAfterMs: 60_000,
  /** Retention of the events of an ended run, in milliseconds. */
  retainedMs: 5 * 60_000,
  /** Maximum time that one read waits for an event, in milliseconds. */
  readWaitMs: 10_000,
  /** Maximum characters of events that one read returns. */
  readLength: 192 * 1024,
} as const

export type RunLimits = { readonly [N in keyof typeof runLimits]: number }

/** The events that one read of a run returns. */
interface RunEvents {
  events: string
  last: number
  ended: boolean
}

/** The reason why a run stops before its work is done. */
type StopReason = 'requested' | 'abandoned' | 'stopping'

/** A run produces one answer. It buffers the events for readers. It stops on request, or if no reader is left. */
export class Run {
  readonly id: string
  readonly owner: string
  readonly #limits: RunLimits
  readonly #buffer: EventBuffer
  readonly #stop = new AbortController()
  readonly #changes = new EventTarget()
  #readers = 0
  #ended = false
  #abandoned: NodeJS.Timeout | undefined

  constructor(id: string, identity: Identity, limits: RunLimits) {
    this.id = id
    this.owner = getRunOwner(identity)
    this.#limits = limits
    this.#buffer = new EventBuffer(limits.bufferBytes)
    this.#expectReader()
  }

  /** Aborts when the run must stop. The abort reason is a `StopReason`. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  get ended(): boolean {
    return this.#ended
  }

  /** Appends an event and wakes up waiting readers. */
  emit(data: string): void {
    this.#buffer.append(data)
    this.#changes.dispatchEvent(new Event('change'))
  }

  /** Marks the run as ended; no events may follow. */
  end(): void {
    this.#ended = true
    clearTimeout(this.#abandoned)
    this.#changes.dispatchEvent(new Event('change'))
  }

  stop(reason: StopReason): void {
    this.#stop.abort(reason)
  }

  /**
   * Returns the events after an event number. Waits if there are none yet. Throws `gone` if they are no longer
   * buffered.
   */
  async read(after: number, signal: AbortSignal): Promise<RunEvents> {
    this.#readers += 1
    clearTimeout(this.#abandoned)
    try {
      if (after === this.#buffer.last && !this.#ended) await this.#waitForChange(signal)
      return this.#eventsAfter(after)
    } finally {
      this.#readers -= 1
      if (this.#readers === 0) this.#expectReader()
    }
  }

  #eventsAfter(after: number): RunEvents {
    const read = this.#buffer.after(after, this.#limits.readLength)
    if (read) return { ...read, ended: this.#ended && read.last === this.#buffer.last }
    throw new ServiceError('gone', 'earlier events of this run are no longer available; send the message again')
  }

  async #waitForChange(signal: AbortSignal): Promise<void> {
    const late = AbortSignal.timeout(this.#limits.readWaitMs)
    await once(this.#changes, 'change', { signal: AbortSignal.any([signal, late]) }).catch(() => {
      // After a timeout, the read returns no events. It throws only if the reader has disconnected.
      signal.throwIfAborted()
    })
  }

  #expectReader(): void {
    if (this.#ended) return
    this.#abandoned = setTimeout(() => this.stop('abandoned'), this.#limits.abandonedAfterMs)
  }
}

/** Returns the owner of a caller's runs. The sessions and the API keys of a user have the same owner. */
export const getRunOwner = ({ kind, subject }: Identity): string =>
  `${kind === 'user' || kind === 'key' ? 'person' : kind}:${subject}`

/** A buffer of numbered events. When it is full, it drops the oldest events. */
export class EventBuffer {
  readonly #maxBytes: number
  /** Events by number. Unlike an array, a map can delete its first entry without moving the others. */
  readonly #events = new Map<number, string>()
  #bytes = 0
  #dropped = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The number of the last event; 0 before the first. */
  get last(): number {
    return this.#dropped + this.#events.size
  }

  /** Appends one line of data as a server-sent event. */
  append(data: string): void {
    const number = this.last + 1
    const event = `id: ${number}\ndata: ${data}\n\n`
    this.#events.set(number, event)
    this.#bytes += Buffer.byteLength(event)
    while (this.#bytes > this.#maxBytes && this.#events.size > 1) this.#dropFirst()
  }

  #dropFirst(): void {
    this.#dropped += 1
    this.#bytes -= Buffer.byteLength(this.#events.get(this.#dropped) ?? '')
    this.#events.delete(this.#dropped)
  }

  /**
   * Returns the events after an event number: at least one if there is any, then as many as fit into `maxLength`
   * characters. Undefined if the next event was dropped, or if the number is higher than that of the last event.
   */
  after(number: number, maxLength: number): { events: string; last: number } | undefined {
    if (number < this.#dropped || number > this.last) return undefined
    let events = ''
    let last = number
    while (last < this.last) {
      const event = this.#events.get(last + 1) ?? ''
      if (events !== '' && events.length + event.length > maxLength) break
      events += event
      last += 1
    }
    return { events, last }
  }
}
