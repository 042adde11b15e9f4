import type { WireHeaders, WireMessage } from './wire.ts'

/**
 * What answers a question, in order: `answer` or `error` alone; or `head`, any `data`, and `end` or `error`, numbered from 0.
 * `working` may come in between and carries the number of the frame that is next.
 */
const frameKinds = ['answer', 'head', 'data', 'working', 'end', 'error'] as const
export type FrameKind = (typeof frameKinds)[number]

/** One part of an answer. */
export interface Frame {
  kind: FrameKind
  sequence: number
  body: Uint8Array
  /** The producer's inbox for credit and cancellation; on every frame but those that end an exchange. */
  control: string | undefined
}

/** What a consumer sends to a producer: it has consumed the frames below `consumed`, or it no longer waits. */
export type Control = { kind: 'credit'; consumed: number } | { kind: 'cancel' }

/** Headers that carry the kind of a frame and, unless it is the only one, its position in the sequence. */
export const frameHeaders = (kind: FrameKind, sequence: number): WireHeaders =>
  kind === 'answer' ? { frame: kind } : { frame: kind, sequence: String(sequence) }

/** The frame in a message, or undefined for a kind that this release does not know. */
export const readFrame = ({ headers, body, reply }: WireMessage): Frame | undefined => {
  const kind = frameKinds.find((known) => known === headers.frame)
  return kind && { kind, sequence: Number(headers.sequence), body, control: reply }
}

/** Headers that carry a consumer’s word to its producer. */
export const controlHeaders = (control: Control): WireHeaders =>
  control.kind === 'credit' ? { control: 'credit', consumed: String(control.consumed) } : { control: 'cancel' }

/** The control message in a message, or undefined for a kind that this release does not know. */
export const readControl = ({ headers }: WireMessage): Control | undefined => {
  if (headers.control === 'cancel') return { kind: 'cancel' }
  const consumed = Number(headers.consumed)
  return headers.control === 'credit' && Number.isSafeInteger(consumed) ? { kind: 'credit', consumed } : undefined
}

/** Frames that have arrived and not been taken, and how they end. The sender keeps within the credit. */
export class FrameQueue {
  readonly #frames: Uint8Array[] = []
  #end: { tail: Uint8Array } | { error: unknown } | undefined
  #wake: (() => void) | undefined

  get length(): number {
    return this.#frames.length
  }

  push(frame: Uint8Array): void {
    this.#frames.push(frame)
    this.#wake?.()
  }

  end(tail: Uint8Array): void {
    this.#end ??= { tail }
    this.#wake?.()
  }

  fail(error: unknown): void {
    this.#end ??= { error }
    this.#wake?.()
  }

  /** The oldest frame, or the tail when there are no more; rejects when they ended in an error. */
  async take(): Promise<{ frame: Uint8Array } | { tail: Uint8Array }> {
    while (this.#frames.length === 0 && !this.#end) {
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    const frame = this.#frames.shift()
    if (frame) return { frame }
    if (!this.#end || 'error' in this.#end) throw this.#end?.error
    return this.#end
  }
}
