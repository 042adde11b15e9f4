import { once } from 'node:events'
import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'

/** Sizes and times of a run; tests shorten the times. */
export const runLimits = {
  bufferBytes: 4 * 1024 * 1024,
  /** A run whose events nobody reads for this long ends. */
  abandonedAfterMs: 60_000,
  /** How long its events can be read once it has ended. */
  keptMs: 5 * 60_000,
  /** How long one reading waits for an event. */
  readWaitMs: 10_000,
  /** Characters of events that one reading takes along. */
  readLength: 192 * 1024,
} as const

/** `runLimits` with other numbers. */
export type RunLimits = { readonly [N in keyof typeof runLimits]: number }

/** What one reading of a run gave. */
interface Reading {
  events: string
  last: number
  ended: boolean
}

/** Why a run was told to stop. */
type StopReason = 'asked' | 'abandoned' | 'stopping'

/** One answer in the making: what it has told so far, and who may still make it stop. */
export class Run {
  readonly id: string
  readonly owner: string
  readonly #limits: RunLimits
  readonly #buffer: EventBuffer
  readonly #stop = new AbortController()
  readonly #told = new EventTarget()
  #readers = 0
  #ended = false
  #abandoned: NodeJS.Timeout | undefined

  constructor(id: string, identity: Identity, limits: RunLimits) {
    this.id = id
    this.owner = ownerOf(identity)
    this.#limits = limits
    this.#buffer = new EventBuffer(limits.bufferBytes)
    this.#expectReader()
  }

  /** Aborts when the run shall end; its reason is a `StopReason`. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  get ended(): boolean {
    return this.#ended
  }

  /** Tells whoever reads. */
  tell(data: string): void {
    this.#buffer.append(data)
    this.#told.dispatchEvent(new Event('told'))
  }

  /** Says that nothing more will be told. */
  end(): void {
    this.#ended = true
    clearTimeout(this.#abandoned)
    this.#told.dispatchEvent(new Event('told'))
  }

  stop(reason: StopReason): void {
    this.#stop.abort(reason)
  }

  /** What was told after an event, waiting for it when there is nothing yet. Throws `gone` when that is no longer kept. */
  async read(after: number, signal: AbortSignal): Promise<Reading> {
    this.#readers += 1
    clearTimeout(this.#abandoned)
    try {
      if (after === this.#buffer.last && !this.#ended) await this.#somethingTold(signal)
      return this.#readingAfter(after)
    } finally {
      this.#readers -= 1
      if (this.#readers === 0) this.#expectReader()
    }
  }

  #readingAfter(after: number): Reading {
    const read = this.#buffer.after(after, this.#limits.readLength)
    if (read) return { ...read, ended: this.#ended && read.last === this.#buffer.last }
    throw new ServiceError('gone', 'what the run told before is no longer kept; ask again')
  }

  async #somethingTold(signal: AbortSignal): Promise<void> {
    const late = AbortSignal.timeout(this.#limits.readWaitMs)
    await once(this.#told, 'told', { signal: AbortSignal.any([signal, late]) }).catch(() => {
      // Nothing was told in time, which is an answer too; a reader that has left throws.
      signal.throwIfAborted()
    })
  }

  #expectReader(): void {
    if (this.#ended) return
    this.#abandoned = setTimeout(() => this.stop('abandoned'), this.#limits.abandonedAfterMs)
  }
}

/** Whose run it is: people own the same ones whether they come with a session or with a key. */
export const ownerOf = ({ kind, subject }: Identity): string =>
  `${kind === 'user' || kind === 'key' ? 'person' : kind}:${subject}`

/** What a run has told, each event with its number; what no longer fits is forgotten from the beginning. */
export class EventBuffer {
  readonly #maxBytes: number
  /** By number. A map gives up its first without moving the others. */
  readonly #events = new Map<number, string>()
  #bytes = 0
  #forgotten = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Number of the last event; 0 before the first. */
  get last(): number {
    return this.#forgotten + this.#events.size
  }

  /** Keeps one line of data as a server-sent event. */
  append(data: string): void {
    const number = this.last + 1
    const event = `id: ${number}\ndata: ${data}\n\n`
    this.#events.set(number, event)
    this.#bytes += Buffer.byteLength(event)
    while (this.#bytes > this.#maxBytes && this.#events.size > 1) this.#forget()
  }

  #forget(): void {
    this.#forgotten += 1
    this.#bytes -= Buffer.byteLength(this.#events.get(this.#forgotten) ?? '')
    this.#events.delete(this.#forgotten)
  }

  /** The events after one, at least the next and then as many as fit; undefined when the next is forgotten or was never told. */
  after(number: number, maxLength: number): { events: string; last: number } | undefined {
    if (number < this.#forgotten || number > this.last) return undefined
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
