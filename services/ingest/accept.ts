import { z } from 'zod'
import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { type InboundEvent, formatInboundSubject } from '#proto/inbound-event.ts'
import { type ingest, maxEventsPerRequest } from '#proto/ingest.ts'
import type { Queue } from '#shared/bus/durable/queue.ts'
import type { Store } from '#shared/store/store.ts'
import { type Clock, recordInstant } from '#shared/time/clock.ts'
import { type RequestHeaders, type EventDraft, isJsonObject, requirePlainJson } from './adapters/adapter.ts'
import { isBinaryCloudEvent } from './adapters/cloud-events.ts'
import { adapters } from './adapters/index.ts'
import { hashTexts, normalizeEvent } from './normalize.ts'

/** The body of a request and the headers that describe its events. */
export interface IngestRequest {
  body: string
  headers: RequestHeaders
}

interface AcceptDeps {
  queue: Queue
  store: Store
  clock: Clock
  /** Returns the id of this installation. */
  origin(): Promise<string>
  /** Verifies a message of AWS SNS and returns its content; other requests are returned unchanged. */
  openEnvelope(request: IngestRequest): Promise<IngestRequest>
  observe(sourceType: string, outcome: 'kept' | 'duplicate' | 'refused'): void
}

type Accept = ServiceHandlers<typeof ingest>['accept']
type AcceptResult = Awaited<ReturnType<Accept>>[number]

/**
 * Returns the handler that accepts events. It responds once every valid event of the request is stored in the queue. If
 * one cannot be stored, the whole request fails and may be retried.
 */
export const createAcceptHandler =
  (deps: AcceptDeps): Accept =>
  async ({ body, headers }) => {
    const idempotencyKey = readIdempotencyKey(headers)
    const content = await deps.openEnvelope({ body, headers })
    const parsed = parseEvents(content.body, content.headers)
    const context = {
      idempotencyKey,
      receivedAt: recordInstant(deps.clock),
      hops: readHops(headers),
      origin: await deps.origin(),
    }
    const events = parsed.map((one, index) => ('error' in one ? one : normalizeEvent(one, { ...context, index })))
    // The key is not claimed if every event is invalid, so that the sender can correct the body.
    const isClaimed = idempotencyKey !== undefined && events.some((event) => 'id' in event)
    const claim = isClaimed ? await claimKey(deps, idempotencyKey, body) : undefined
    const results = await Promise.all(
      events.map(async (event): Promise<AcceptResult> =>
        'error' in event ? rejectEvent(deps, event) : storeEvent(deps, event, claim?.isKept ?? false),
      ),
    )
    await claim?.keep()
    return results
  }

const rejectEvent = ({ observe }: AcceptDeps, { error }: { error: string }): AcceptResult => {
  observe('none', 'refused')
  return { error }
}

const storeEvent = async (
  { queue, observe }: AcceptDeps,
  event: InboundEvent,
  isDuplicate: boolean,
): Promise<AcceptResult> => {
  const { id } = event
  const duplicate = isDuplicate || (await queue.publish(formatInboundSubject(event), { id, body: event })).duplicate
  observe(event.sourceType, duplicate ? 'duplicate' : 'kept')
  return { id, duplicate }
}

const maxKeyLength = 255

const readIdempotencyKey = ({ 'idempotency-key': key }: RequestHeaders): string | undefined => {
  if (key === undefined) return undefined
  if (key === '' || key.length > maxKeyLength)
    throw new ServiceError('invalid', `Idempotency-Key must have 1 to ${maxKeyLength} characters`)
  return key
}

const readHops = ({ 'x-reemit-hops': hops = '' }: RequestHeaders): number => (/^\d{1,3}$/.test(hops) ? Number(hops) : 0)

const Claim = z.object({ body: z.string(), isKept: z.boolean() })
/** How long an idempotency key is bound to the body of its first request. */
const keyTtlMs = 24 * 60 * 60_000

/** Binds an idempotency key to this body; throws `conflict` if it is bound to another one. */
const claimKey = async ({ store }: AcceptDeps, idempotencyKey: string, body: string) => {
  const key = `ingest:key:${hashTexts(idempotencyKey)}`
  const digest = hashTexts(body)
  const claimed = await store.updateNew(key, Claim, (before) => ({
    value: before ?? { body: digest, isKept: false },
    expiresInMs: keyTtlMs,
  }))
  if (claimed?.body !== digest) {
    throw new ServiceError(
      'conflict',
      'Idempotency-Key was already used with another body; use a new key for new events',
    )
  }
  return {
    isKept: claimed.isKept,
    keep: async () => {
      if (claimed.isKept) return
      await store.update(key, Claim, () => ({ value: { body: digest, isKept: true }, expiresInMs: keyTtlMs }))
    },
  }
}

/** A parsed event of a request, or why it could not be parsed. */
type ParsedEvent = (EventDraft & { sourceType: string }) | { error: string }

/** Parses the events of a body in order. Throws `invalid` for a body that cannot contain events. */
export const parseEvents = (body: string, headers: RequestHeaders): ParsedEvent[] => {
  const isBinary = isBinaryCloudEvent(headers)
  const isLines = !isBinary && /^application\/x-ndjson/i.test(headers['content-type'] ?? '')
  const value = isBinary && body === '' ? null : isLines ? parseJsonLines(body) : parseJsonBody(body)
  requirePlainJson(value)
  // In binary mode the body is the data of one event, regardless of its type.
  const events = isBinary ? undefined : listEvents(value)
  if (events === undefined) return requireMaxEvents(parseEvent(isBinary ? { data: value } : value, headers))
  if (events.length === 0) throw new ServiceError('invalid', 'the body contains no event')
  // Headers that describe a single event do not apply to a list.
  const others = Object.fromEntries(Object.entries(headers).filter(([name]) => !isSingleEventHeader(name)))
  return requireMaxEvents(events.flatMap((event) => parseEvent(event, others)))
}

const isSingleEventHeader = (name: string): boolean => name === 'x-webhook-id' || name.startsWith('ce-')

const requireMaxEvents = (events: ParsedEvent[]): ParsedEvent[] => {
  if (events.length <= maxEventsPerRequest) return events
  throw new ServiceError(
    'too-large',
    `too many events: ${events.length}; the maximum per request is ${maxEventsPerRequest}`,
  )
}

const parseJsonBody = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    throw new ServiceError('invalid', 'the body is not JSON')
  }
}

/** Parses one object per line, as Zabbix streams events. An invalid line becomes null, so that only it is rejected. */
const parseJsonLines = (body: string): unknown[] =>
  body
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      try {
        return JSON.parse(line)
      } catch {
        return null
      }
    })

/** Returns the events of a list, or of the list in `events`; undefined for a single event. */
const listEvents = (value: unknown): unknown[] | undefined => {
  if (Array.isArray(value)) return value
  if (!isJsonObject(value) || !('events' in value)) return undefined
  if (!Array.isArray(value.events)) throw new ServiceError('invalid', 'events must be a list')
  return value.events
}

const parseEvent = (value: unknown, headers: RequestHeaders): ParsedEvent[] => {
  if (!isJsonObject(value)) return [{ error: 'an event must be a JSON object' }]
  const adapter = adapters.find(({ recognizes }) => recognizes(value, headers))
  if (!adapter) return [{ error: 'an event must be a JSON object' }]
  try {
    return adapter
      .read(value, headers)
      .map((parsed) => ('error' in parsed ? parsed : { ...parsed, sourceType: adapter.id }))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return [{ error: error.message }]
  }
}
