import { ServiceError } from '#proto/errors.ts'
import type { EventSeverity, EventStatus } from '#proto/inbound-event.ts'

/** A received JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>
/** Returns whether a value is an object other than a list. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Headers by lower-case name. */
export type RequestHeaders = Readonly<Record<string, string>>

/** A parsed event, before long texts are truncated. */
export interface EventDraft {
  source: string
  externalId: string | null
  /** Values that identify the message, used to discard duplicates; null if only its content identifies it. */
  identity: readonly string[] | null
  /** Null if the sender provides no key that stays the same until the event resolves. */
  dedupKey: string | null
  status: EventStatus
  /** Null if the severity is missing or unknown. */
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
  /** The part of the request that contains this event. */
  raw: unknown
}

/** Parser of one input format. */
export interface EventAdapter {
  id: string
  recognizes(sent: JsonObject, headers: RequestHeaders): boolean
  /** Returns the events of an object, each as a draft or an error. Throws `invalid` if the object cannot be parsed. */
  read(sent: JsonObject, headers: RequestHeaders): (EventDraft | { error: string })[]
}

const maxDepth = 32
const forbiddenNames = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Throws `invalid` for a value that is nested too deeply or contains field names with a special meaning in JavaScript.
 */
export const requirePlainJson = (value: unknown, depth = 0): void => {
  if (typeof value !== 'object' || value === null) return
  if (depth >= maxDepth) throw new ServiceError('invalid', `the body must not be nested deeper than ${maxDepth} levels`)
  for (const [name, inner] of Object.entries(value)) {
    if (!Array.isArray(value) && forbiddenNames.has(name))
      throw new ServiceError('invalid', `the body must not contain the field "${name}"`)
    requirePlainJson(inner, depth + 1)
  }
}
