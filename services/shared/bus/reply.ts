import { ServiceError } from '#proto/errors.ts'
import { splitBody } from './body.ts'
import { type BusChannel, createTimeoutError } from './exchange.ts'
import { encodeFailure } from './failure.ts'
import { type FrameKind, createFrameHeaders, readControl } from './frame.ts'
import type { InboxAddress } from './inbox.ts'
import type { RequestRecord } from './request-records.ts'
import type { WireMessage } from './wire.ts'
import { parseInboxOwner } from './subject.ts'

/** The flow-control window of a producer: the number of frames that it may be ahead of its consumer. */
export class Credit {
  readonly #window: number
  #sent = 0
  #consumed = 0
  #wake: ((granted: boolean) => void) | undefined

  constructor(window: number) {
    this.#window = window
  }

  /** Takes credit for one frame. Returns whether there was credit within `waitMs` and before the signal aborted. */
  async take(waitMs: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false
    if (this.#sent - this.#consumed >= this.#window && !(await this.#granted(waitMs, signal))) return false
    this.#sent += 1
    return true
  }

  /** Records the total number of consumed frames. Since it is a total, the next message compensates for a lost one. */
  grant(consumed: number): void {
    if (consumed <= this.#consumed || consumed > this.#sent) return
    this.#consumed = consumed
    this.#wake?.(true)
  }

  async #granted(waitMs: number, signal: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const give = () => resolve(false)
    const timer = setTimeout(give, waitMs)
    signal.addEventListener('abort', give, { once: true })
    this.#wake = resolve
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', give)
      this.#wake = undefined
    }
  }
}

/**
 * Sends the response to one received request: data frames within the credit, and `working` frames at regular intervals.
 */
export class Reply {
  readonly #channel: BusChannel
  readonly #subject: string
  readonly #stopped = new AbortController()
  readonly #credit: Credit
  #working: NodeJS.Timeout | undefined
  #deadline: NodeJS.Timeout | undefined
  #sequence = 0
  #ended = false
  #unanswered = 0
  #missed = 0
  #control: InboxAddress | undefined
  readonly #record: RequestRecord | undefined

  /** `subject` is the reply address of the caller. `record` keeps the frames, in case the caller loses them. */
  constructor(channel: BusChannel, subject: string, record?: RequestRecord) {
    this.#channel = channel
    this.#subject = subject
    this.#record = record
    this.#credit = new Credit(channel.limits.creditFrames)
  }

  /**
   * Starts sending `working` regularly, and aborts `signal` at the deadline. Throws `timeout` if the deadline has
   * passed.
   */
  begin(timeLeftMs: number): void {
    const { workingEveryMs, maxCallMs } = this.#channel.limits
    if (timeLeftMs <= 0) throw createTimeoutError()
    this.#working = setInterval(() => this.#sayWorking(), workingEveryMs)
    this.#deadline = setTimeout(() => this.#stopped.abort(createTimeoutError()), Math.min(timeLeftMs, maxCallMs))
  }

  /** Aborts when the caller no longer waits: it cancelled or died, its deadline passed, or it stopped reading. */
  get signal(): AbortSignal {
    return this.#stopped.signal
  }

  /** Sends a whole response, as one message if it fits into a frame, otherwise as several frames. */
  answer(body: Uint8Array): void | Promise<void> {
    return body.byteLength <= this.#channel.limits.frameBytes ? this.#send('answer', body) : this.#answerInFrames(body)
  }

  async #answerInFrames(body: Uint8Array): Promise<void> {
    this.head(emptyBody)
    await this.data(body)
    this.end(emptyBody)
  }

  head(body: Uint8Array): void {
    this.#sendNext('head', body)
  }

  /** Sends a body in as many frames as needed, within the credit; rejects if the caller no longer waits. */
  async data(body: Uint8Array): Promise<void> {
    const { frameBytes, starvedMs } = this.#channel.limits
    for (const piece of splitBody(body, frameBytes)) {
      if (!(await this.#credit.take(starvedMs, this.signal))) {
        this.#stopped.abort(createStarvedError(starvedMs))
        throw this.signal.reason
      }
      this.#sendNext('data', piece)
    }
  }

  end(body: Uint8Array): void {
    this.#sendNext('end', body)
  }

  fail(error: ServiceError): void {
    this.#send('error', encodeFailure(error, this.#channel.limits.frameBytes))
  }

  /** Stops the timers and releases the control inbox; called after the last frame. */
  close(): void {
    this.#record?.finish()
    clearInterval(this.#working)
    clearTimeout(this.#deadline)
    this.#control?.release()
  }

  /**
   * Sends `working`. The caller acknowledges each of these frames, so a crashed caller is noticed before its deadline.
   */
  #sayWorking(): void {
    const { workingEveryMs, starvedMs } = this.#channel.limits
    if (this.#unanswered * workingEveryMs >= starvedMs) return this.#stopped.abort(createStarvedError(starvedMs))
    this.#unanswered += 1
    this.#send('working', emptyBody)
  }

  /**
   * Aborts after two undelivered frames in a row. A caller that reconnects within a second receives the next frame; any
   * other caller has given up.
   */
  #miss(): void {
    this.#missed += 1
    if (this.#missed > 1) this.#stopped.abort()
  }

  #sendNext(kind: FrameKind, body: Uint8Array): void {
    this.#send(kind, body)
    this.#sequence += 1
  }

  #send(kind: FrameKind, body: Uint8Array): void {
    // The caller may reuse its address after the exchange has ended.
    if (this.#ended) return
    const ends = kind === 'answer' || kind === 'end' || kind === 'error'
    this.#ended = ends
    if (!ends)
      this.#control ??= this.#channel.inbox.open(parseInboxOwner(this.#subject), (message) => this.#hear(message))
    const options = {
      headers: createFrameHeaders(kind, this.#sequence),
      reply: ends ? undefined : this.#control?.subject,
    }
    if (this.#record?.isSafe === false) this.#record.add({ kind, sequence: this.#sequence, body })
    this.#channel.wire.publish(this.#subject, body, options)
  }

  #hear(message: WireMessage): void {
    if (message.unheard) return this.#miss()
    this.#unanswered = 0
    this.#missed = 0
    const control = readControl(message)
    if (control?.kind === 'cancel') this.#stopped.abort()
    // Credit counts data frames only, not the head.
    if (control?.kind === 'credit') this.#credit.grant(control.consumed)
  }
}

const emptyBody = new Uint8Array(0)

const createStarvedError = (waitedMs: number) =>
  new ServiceError('timeout', `the caller did not read the response for ${waitedMs} ms`)
