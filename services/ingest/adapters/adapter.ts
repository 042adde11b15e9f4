import { ServiceError } from '#proto/errors.ts'
import type { EventSeverity, EventStatus } from '#proto/inbound-event.ts'

/** A JSON object as it was sent. */
export type Sent = Readonly<Record<string, unknown>>
export const isSent = (value: unknown): value is Sent =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Header fields by their lower-case names. */
export type Headers = Readonly<Record<string, string>>

/** One event as its adapter understands it, before anything is cut. */
export interface Draft {
  source: string
  externalId: string | null
  /** What is the same when the sender repeats this very message; null leaves that to the content. */
  identity: readonly string[] | null
  /** Null where the sender names nothing that stays the same until the end. */
  dedupKey: string | null
  status: EventStatus
  /** Null when the sender did not say, or in a word that is not known. */
  severity: EventSeverity | null
  resource: string
  /** May be empty. */
  title: string
  body: string
  labels: Readonly<Record<string, string>>
  /** Epoch milliseconds. */
  occurredAt: number | null
  endsAt: number | null
  url: string | null
  /** What of the request this event is. */
  raw: unknown
}

/** One shape of what other systems send. */
export interface Adapter {
  id: string
  recognises(sent: Sent, headers: Headers): boolean
  /**
   * The events in it, each a draft or the sentence that says what is wrong with it. Throws `ServiceError` of code `invalid` when
   * none of it can be understood.
   */
  read(sent: Sent, headers: Headers): (Draft | { error: string })[]
}

const deepest = 32
const forbidden = new Set(['__proto__', 'constructor', 'prototype'])

/** Throws `invalid` for a value that is nested too deep or has names that stand for something else in the language. */
export const requireSound = (value: unknown, depth = 0): void => {
  if (typeof value !== 'object' || value === null) return
  if (depth >= deepest) throw new ServiceError('invalid', `the body must not be nested deeper than ${deepest} levels`)
  for (const [name, inner] of Object.entries(value)) {
    if (!Array.isArray(value) && forbidden.has(name))
      throw new ServiceError('invalid', `the body must not have a field ${name}`)
    requireSound(inner, depth + 1)
  }
}
