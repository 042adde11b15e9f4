import { type InboundEvent, eventBounds } from '#proto/inbound-event.ts'
import type { Draft } from './adapters/adapter.ts'
import { canonical, digestOf } from './canonical.ts'
import { cutter } from './cut.ts'

/** What the request says of each of its events. */
export interface Around {
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
    dedupKey: nameWithin(draft.dedupKey ?? digestOf(title, resource)),
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

/** A name that is too long is told from others by its digest, which a cut one would not be. */
const nameWithin = (name: string): string => (name.length <= bounds.key ? name : digestOf(name))
