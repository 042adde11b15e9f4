import { z } from 'zod'
import { Severity } from './rules.ts'

/** The severity reported by the sender. */
export const EventSeverity = z.enum([...Severity.options, 'info'])
export type EventSeverity = z.infer<typeof EventSeverity>

/** The status that the sender reports: open, acknowledged or resolved; `info` is none of these. */
export const EventStatus = z.enum(['firing', 'acknowledged', 'resolved', 'info'])
export type EventStatus = z.infer<typeof EventStatus>

/** Maximum lengths of event texts in UTF-16 units, and the maximum number of labels. Longer texts are truncated. */
export const eventLimits = {
  source: 128,
  key: 200,
  resource: 300,
  title: 300,
  body: 8_192,
  url: 2_048,
  labels: 64,
  labelName: 128,
  labelValue: 4_096,
  /** Size of the received event in bytes as JSON. Larger events are rejected. */
  raw: 64 * 1024,
} as const

const bounds = eventLimits
const Instant = z.int().min(0)

/** An event of an alerting system, normalized to one shape. Instants are epoch milliseconds. */
export const InboundEvent = z.object({
  /** The id of the event; repetitions of the same message have the same id. */
  id: z.string().max(64),
  source: z.string().min(1).max(bounds.source),
  /** Name of the adapter that parsed it. */
  sourceType: z.string().max(32),
  /** The id that the sender gave the event; null if it gave none. */
  externalId: z.string().max(bounds.key).nullable(),
  /**
   * A key that stays the same until the event resolves. Events with the same source and key concern the same condition.
   */
  dedupKey: z.string().min(1).max(bounds.key),
  severity: EventSeverity,
  /** Whether the severity is missing or unknown. */
  severityUnknown: z.boolean(),
  status: EventStatus,
  /** The affected resource, such as a host; empty if unknown. */
  resource: z.string().max(bounds.resource),
  title: z.string().min(1).max(bounds.title),
  body: z.string().max(bounds.body),
  labels: z.record(z.string().max(bounds.labelName), z.string().max(bounds.labelValue)),
  occurredAt: Instant,
  /** When the event ends without further messages; null if the sender does not specify it. */
  endsAt: Instant.nullable(),
  receivedAt: Instant,
  /** URL of a page of the sender. The web UI links to it only if its scheme is http or https. */
  url: z.string().max(bounds.url).nullable(),
  /** Whether a text was cut. */
  truncated: z.boolean(),
  /** Whether it originated from this product. Such events are stored without notification. */
  own: z.boolean(),
  /** How many installations of this product have forwarded it. */
  hops: z.int().min(0),
  /** The received event as JSON. */
  raw: z.string(),
})
export type InboundEvent = z.infer<typeof InboundEvent>

/** The subject pattern of the event stream, which matches every source type. */
export const inboundSubjectPattern = 'inbound.>'
/** Returns the stream subject of an event. */
export const formatInboundSubject = ({ sourceType }: Pick<InboundEvent, 'sourceType'>): string =>
  `inbound.${sourceType}`
