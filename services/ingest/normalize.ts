import { hash } from 'node:crypto'
import { type InboundEvent, eventLimits } from '#proto/inbound-event.ts'
import { shortenWithEllipsis } from '#shared/text/strings.ts'
import type { EventDraft } from './adapters/adapter.ts'

/** Properties of the request that its events share. */
interface RequestContext {
  /** The `Idempotency-Key` of the request; `index` is the position of the event. */
  idempotencyKey: string | undefined
  index: number
  receivedAt: number
  hops: number
  /** The id of this installation. */
  origin: string
}

const bounds = eventLimits

/** Returns the event in its stored form, or an error if it is too large. */
export const normalizeEvent = (
  draft: EventDraft & { sourceType: string },
  context: RequestContext,
): InboundEvent | { error: string } => {
  const raw = JSON.stringify(draft.raw)
  if (Buffer.byteLength(raw) > bounds.raw)
    return { error: `the event is too large: the maximum is ${bounds.raw} bytes` }
  const { receivedAt, hops, origin } = context
  const cuts = createTextLimiter()
  const source = cuts.cut(draft.source.trim(), bounds.source) || 'generic'
  const title = cuts.cut(draft.title.trim(), bounds.title) || `event of ${cuts.cut(source, bounds.source)}`
  const resource = cuts.cut(draft.resource, bounds.resource)
  const event = {
    id: buildEventId(draft, context),
    source,
    sourceType: draft.sourceType,
    externalId: draft.externalId === null ? null : limitName(draft.externalId),
    dedupKey: limitName(draft.dedupKey ?? buildFallbackKey(draft, resource)),
    severity: draft.severity ?? 'warning',
    severityUnknown: draft.severity === null,
    status: draft.status,
    resource,
    title,
    body: cuts.cut(draft.body, bounds.body),
    labels: cuts.cutLabels(draft.labels),
    // The clock of the sender may be ahead. Without the limit, its event would stay the newest.
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

/** Returns the event id: the hash of the idempotency key, else of the identity, else of the content. */
const buildEventId = ({ identity, raw }: EventDraft, { idempotencyKey, index }: RequestContext): string => {
  if (idempotencyKey !== undefined) return hashTexts('key', idempotencyKey, String(index))
  return identity === null ? hashTexts('content', toCanonicalJson(raw)) : hashTexts('named', ...identity)
}

/**
 * Returns a deduplication key for an event without one. It is built from title and resource, else from the sender's id,
 * else from all fields that stay the same. A title alone would merge unrelated incidents.
 */
const buildFallbackKey = ({ title, externalId, raw }: EventDraft, resource: string): string => {
  if (title.trim() !== '' && resource !== '') return hashTexts(title.trim(), resource)
  if (externalId !== null) return externalId
  const stable = toCanonicalJson(pickStableFields(raw))
  return stable === '{}' ? hashTexts('title', title.trim()) : hashTexts('fields', stable)
}

const volatileFieldPattern =
  /^(status|state|.*action|severity|level|priority|sev|result|conclusion|value|count|.*time(stamp)?|date|.*_?at|duration|.*id|uuid|message|body|text|description|details?|reason|url|link)$/i

/** Returns a value without the fields that change between messages. Numbers become null: they may be measurements. */
const pickStableFields = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(pickStableFields)
  if (typeof value !== 'object' || value === null) return typeof value === 'number' ? null : value
  const entries = Object.entries(value).filter(([name]) => !volatileFieldPattern.test(name))
  return Object.fromEntries(entries.map(([name, inner]) => [name, pickStableFields(inner)]))
}

/** Replaces a long key by its hash, because a truncated key may not be unique. */
const limitName = (name: string): string => (name.length <= bounds.key ? name : hashTexts(name))

/** Truncates long texts and remembers whether it did. */
interface TextLimiter {
  cut(text: string, maxLength: number): string
  cutLabels(labels: Readonly<Record<string, string>>): Record<string, string>
  hasCut(): boolean
}

const createTextLimiter = (): TextLimiter => {
  let hasCut = false
  const cutText = (value: string, maxLength: number): string => {
    // Databases reject NUL characters, and receivers may reject unpaired surrogates.
    const text = value.replaceAll('\0', ' ').toWellFormed()
    if (text.length <= maxLength) return text
    hasCut = true
    return shortenWithEllipsis(text, maxLength)
  }
  return {
    cut: cutText,
    cutLabels: (labels) => {
      const entries = Object.entries(labels)
      if (entries.length > eventLimits.labels) hasCut = true
      return Object.fromEntries(
        entries
          .slice(0, eventLimits.labels)
          .map(([name, value]) => [cutText(name, eventLimits.labelName), cutText(value, eventLimits.labelValue)]),
      )
    },
    hasCut: () => hasCut,
  }
}

/** Returns JSON that does not depend on the order of fields. */
const toCanonicalJson = (value: unknown): string => JSON.stringify(sortFields(value))

const sortFields = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sortFields)
  const entries = Object.entries(value).map(([name, inner]) => [name, sortFields(inner)] as const)
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** Returns a hash of the texts with 40 hexadecimal digits. */
export const hashTexts = (...texts: readonly string[]): string => hash('sha256', JSON.stringify(texts)).slice(0, 40)
