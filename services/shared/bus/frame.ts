import type { WireHeaders, WireMessage } from './wire.ts'

/**
 * The kinds of frames. A response is a single `answer` or `error`, or a sequence numbered from 0: `head`, any number of
 * `data`, then `end` or `error`. `working` is a heartbeat with the number of the next frame.
 */
const frameKinds = ['answer', 'head', 'data', 'working', 'end', 'error'] as const
export type FrameKind = (typeof frameKinds)[number]

/** A frame of a response. */
export interface Frame {
  kind: FrameKind
  sequence: number
  body: Uint8Array
  /** The inbox of the producer for control messages; undefined on the last frame. */
  control: string | undefined
}

/** A control message of the consumer: it has consumed the frames below `consumed`, or it cancels. */
export type ControlMessage = { kind: 'credit'; consumed: number } | { kind: 'cancel' }

/** Returns the headers of a frame: its kind and, unless it is the only one, its sequence number. */
export const createFrameHeaders = (kind: FrameKind, sequence: number): WireHeaders =>
  kind === 'answer' ? { frame: kind } : { frame: kind, sequence: String(sequence) }

/** Parses a frame; undefined for an unknown kind of a newer release. */
export const readFrame = ({ headers, body, reply }: WireMessage): Frame | undefined => {
  const kind = frameKinds.find((known) => known === headers.frame)
  return kind && { kind, sequence: Number(headers.sequence), body, control: reply }
}

/** Returns the headers of a control message. */
export const createControlHeaders = (control: ControlMessage): WireHeaders =>
  control.kind === 'credit' ? { control: 'credit', consumed: String(control.consumed) } : { control: 'cancel' }

/** Parses a control message; undefined for an unknown kind of a newer release. */
export const readControl = ({ headers }: WireMessage): ControlMessage | undefined => {
  if (headers.control === 'cancel') return { kind: 'cancel' }
  const consumed = Number(headers.consumed)
  return headers.control === 'credit' && Number.isSafeInteger(consumed) ? { kind: 'credit', consumed } : undefined
}

/** The state of a request at the process to which it was sent. */
const requestStates = ['running', 'finished', 'unknown'] as const
export type RequestState = (typeof requestStates)[number]

/** A request for the state of another request. */
export interface StateRequest {
  /** The reply subject of the other request. */
  reply: string
  id: string
  /** The sequence number of the next frame that the caller expects. */
  expected: number
}

/** Returns the headers of a request for the state of another request. */
export const createStateRequestHeaders = ({ reply, id, expected }: StateRequest): WireHeaders => ({
  'state-of': reply,
  request: id,
  expected: String(expected),
})

/** Parses a request for the state of another request; undefined if it is invalid. */
export const readStateRequest = ({ headers }: WireMessage): StateRequest | undefined => {
  const { 'state-of': reply, request: id } = headers
  const expected = Number(headers.expected)
  return reply === undefined || id === undefined || !Number.isSafeInteger(expected)
    ? undefined
    : { reply, id, expected }
}

/** The response to a request for a state. */
export interface StateResponse {
  state: RequestState
  /** For how long the instance has known every request that it received and that is not safe. */
  knownMs: number
}

/** Returns the headers of the response to a request for a state. */
export const createStateHeaders = ({ state, knownMs }: StateResponse): WireHeaders => ({
  frame: 'state',
  state,
  'known-ms': String(Math.floor(knownMs)),
})

/** Parses the response to a request for a state; undefined for any other message. */
export const readState = ({ headers }: WireMessage): StateResponse | undefined => {
  const state = requestStates.find((known) => known === headers.state)
  if (headers.frame !== 'state' || state === undefined) return undefined
  const knownMs = Number(headers['known-ms'])
  return { state, knownMs: Number.isFinite(knownMs) ? knownMs : 0 }
}

/** A queue of received frames, ended by a tail or an error. The credit of the producer limits its size. */
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

  /** Returns the oldest frame, or the tail at the end; rejects if the stream ended with an error. */
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
