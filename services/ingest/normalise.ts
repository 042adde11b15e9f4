import { hash } from 'node:crypto'
import { type InboundEvent, eventBounds } from '#proto/inbound-event.ts'
import { cut } from '#shared/text/cut.ts'
import type { Draft } from './adapters/adapter.ts'

/** What the request says of each of its events. */
interface Around {
  /** What the sender names the request by, and the place of the event in it. */
  idempotencyKey: string | undefined
  index: number
  receivedAt: number
  hops: number
  /** The name of this installation. */
  origin: string
}

const bounds = eventBounds

/** The event as it is kept; a sentence where it is too large for that. */
export const normalise = (draft: Draft & { sourceType: string }, around: Around): InboundEvent | { error: string } => {
  const raw = JSON.stringify(draft.raw)
  if (Buffer.byteLength(raw) > bounds.raw) return { error: `an event may have ${bounds.raw} bytes` }
  const { receivedAt, hops, origin } = around
  const cuts = cutter()
  const source = cuts.cut(draft.source.trim(), bounds.source) || 'generic'
  const title = cuts.cut(draft.title.trim(), bounds.title) || `event of ${cuts.cut(source, bounds.source)}`
  const resource = cuts.cut(draft.resource, bounds.resource)
  const event = {
    id: idOf(draft, around),
    source,
    sourceType: draft.sourceType,
    externalId: draft.externalId === null ? null : nameWithin(draft.externalId),
    dedupKey: nameWithin(draft.dedupKey ?? fallbackKey(draft, resource)),
    severity: draft.severity ?? 'warning',
    severityUnknown: draft.severity === null,
    status: draft.status,
    resource,
    title,
    body: cuts.cut(draft.body, bounds.body),
    labels: cuts.cutLabels(draft.labels),
    // A clock that is ahead of ours must not make what it says the newest for all time.
    occurredAt: Math.min(draft.occurredAt ?? receivedAt, receivedAt),
    endsAt: draft.endsAt,
    receivedAt,
    url: draft.url === null ? null : cuts.cut(draft.url, bounds.url),
    own: raw.includes(origin),
    hops,
    raw,
  }
  return { ...event, truncated: cuts.hasCut() }
}

/** What the sender names the message by, else what the message is made of. */
const idOf = ({ identity, raw }: Draft, { idempotencyKey, index }: Around): string => {
  if (idempotencyKey !== undefined) return digestOf('key', idempotencyKey, String(index))
  return identity === null ? digestOf('content', canonical(raw)) : digestOf('named', ...identity)
}

/**
 * Identifies the subject of an event without a key: by title and resource, else by the id of its sender, else by all fields that stay the
 * same. A title alone would merge unrelated incidents.
 */
const fallbackKey = ({ title, externalId, raw }: Draft, resource: string): string => {
  if (title.trim() !== '' && resource !== '') return digestOf(title.trim(), resource)
  if (externalId !== null) return externalId
  const stable = canonical(stableFields(raw))
  return stable === '{}' ? digestOf('title', title.trim()) : digestOf('fields', stable)
}

const volatile =
  /^(status|state|.*action|severity|level|priority|sev|result|conclusion|value|count|.*time(stamp)?|date|.*_?at|duration|.*id|uuid|message|body|text|description|details?|reason|url|link)$/i

/** The fields of an object without those that change from message to message; numbers are measurements. */
const stableFields = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(stableFields)
  if (typeof value !== 'object' || value === null) return typeof value === 'number' ? null : value
  const entries = Object.entries(value).filter(([name]) => !volatile.test(name))
  return Object.fromEntries(entries.map(([name, inner]) => [name, stableFields(inner)]))
}

/** A name that is too long is told from others by its digest, which a cut one would not be. */
const nameWithin = (name: string): string => (name.length <= bounds.key ? name : digestOf(name))

/** Cuts what is too long and remembers whether it did. */
interface Cutter {
  cut(text: string, most: number): string
  cutLabels(labels: Readonly<Record<string, string>>): Record<string, string>
  hasCut(): boolean
}

const cutter = (): Cutter => {
  let hasCut = false
  const bounded = (given: string, most: number): string => {
    // Databases keep no zeros, and whoever is told next may refuse a text with half a character in it.
    const text = given.replaceAll('\0', ' ').toWellFormed()
    if (text.length <= most) return text
    hasCut = true
    return cut(text, most)
  }
  return {
    cut: bounded,
    cutLabels: (labels) => {
      const entries = Object.entries(labels)
      if (entries.length > eventBounds.labels) hasCut = true
      return Object.fromEntries(
        entries
          .slice(0, eventBounds.labels)
          .map(([name, value]) => [bounded(name, eventBounds.labelName), bounded(value, eventBounds.labelValue)]),
      )
    },
    hasCut: () => hasCut,
  }
}

/** JSON in which the order of fields says nothing. */
const canonical = (value: unknown): string => JSON.stringify(ordered(value))

const ordered = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(ordered)
  const entries = Object.entries(value).map(([name, inner]) => [name, ordered(inner)] as const)
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** A name made of texts: 40 hexadecimal digits, other ones for other texts. */
export const digestOf = (...texts: readonly string[]): string => hash('sha256', JSON.stringify(texts)).slice(0, 40)
