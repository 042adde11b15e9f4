import type { WireHeaders, WireMessage } from './wire.ts'

/**
 * What answers a question, in order: `answer` or `error` alone; or `head`, any `data`, and `end` or `error`, numbered from 0.
 * `working` may come in between and carries the number of the frame that is next.
 */
export const frameKinds = ['answer', 'head', 'data', 'working', 'end', 'error'] as const
export type FrameKind = (typeof frameKinds)[number]

/** One part of an answer. */
export interface Frame {
  kind: FrameKind
  sequence: number
  body: Uint8Array
  /** The producer's inbox for credit and cancellation; on every frame but those that end an exchange. */
  control: string | undefined
}

/** What a consumer tells a producer: frames below `consumed` are done with, or nobody waits any more. */
export type Control = { kind: 'credit'; consumed: number } | { kind: 'cancel' }

/** Headers that say what a frame is and, unless it is the only one, where in the sequence it stands. */
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
