import { z } from 'zod'
import { Severity } from './rules.ts'

/** How bad the sender says it is. */
export const EventSeverity = z.enum([...Severity.options, 'info'])
export type EventSeverity = z.infer<typeof EventSeverity>

/** What the sender says of it: it is so, somebody is at it, it is over; `info` is none of these. */
export const EventStatus = z.enum(['firing', 'acknowledged', 'resolved', 'info'])
export type EventStatus = z.infer<typeof EventStatus>

/** Longest texts of an event, in UTF-16 units, and how many labels it may have; what is longer is cut. */
export const eventBounds = {
  source: 128,
  key: 200,
  resource: 300,
  title: 300,
  body: 8_192,
  url: 2_048,
  labels: 64,
  labelName: 128,
  labelValue: 4_096,
  /** Of what was sent, as JSON in bytes; longer events are refused. */
  raw: 64 * 1024,
} as const

const bounds = eventBounds
const Instant = z.int().min(0)

/** What an alerting system told us, in one shape whatever its own. Instants are epoch milliseconds. */
export const InboundEvent = z.object({
  /** The same each time the sender repeats this very message. */
  id: z.string().max(64),
  source: z.string().min(1).max(bounds.source),
  /** Name of the adapter that read it. */
  sourceType: z.string().max(32),
  /** What the sender calls it. */
  externalId: z.string().max(bounds.key).nullable(),
  /** What stays the same from the fire to its end: two events of one source and key are about one thing. */
  dedupKey: z.string().min(1).max(bounds.key),
  severity: EventSeverity,
  /** The sender did not say, or in a word that is not known. */
  severityUnknown: z.boolean(),
  status: EventStatus,
  /** What it is about, such as a host; empty when that was not said. */
  resource: z.string().max(bounds.resource),
  title: z.string().min(1).max(bounds.title),
  body: z.string().max(bounds.body),
  labels: z.record(z.string().max(bounds.labelName), z.string().max(bounds.labelValue)),
  occurredAt: Instant,
  /** When it is over if nothing more is heard; null when that was not said. */
  endsAt: Instant.nullable(),
  receivedAt: Instant,
  /** Where the sender shows it; text, and no link unless it is http or https. */
  url: z.string().max(bounds.url).nullable(),
  /** Something was too long and cut. */
  truncated: z.boolean(),
  /** It began with us: kept, and told to nobody. */
  own: z.boolean(),
  /** How often installations like ours have handed it on. */
  hops: z.int().min(0),
  /** As it was sent, as JSON. */
  raw: z.string(),
})
export type InboundEvent = z.infer<typeof InboundEvent>

/** The subjects of the queue under which events wait for whoever wants them. */
export const inboundSubjects = 'inbound.>'
/** The subject of one event. */
export const inboundSubject = ({ sourceType }: Pick<InboundEvent, 'sourceType'>): string => `inbound.${sourceType}`
