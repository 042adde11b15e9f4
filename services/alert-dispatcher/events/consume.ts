import { randomUUID } from 'node:crypto'
import { InboundEvent, inboundSubjectPattern } from '#proto/inbound-event.ts'
import { createBatchWriter } from '#shared/bus/durable/batches.ts'
import type { Queue } from '#shared/bus/durable/queue.ts'
import { deadLetterPoisonMessages } from '#shared/bus/durable/dead-letter-poison.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import type { ServiceContext } from '#shared/lifecycle/service.ts'
import { matchesPattern } from '../delivery/routing.ts'
import { applyEvent, type EventFacts } from './apply-event.ts'
import { OpenCounts, openCountsKey, countOpenEntries } from './event-buckets.ts'
import { restoreInboundConditions } from './restore.ts'
import { type EventEntry, maxOpenConditions, overflowEntryId, deriveEntryId } from './event-entry.ts'
import { eventAlertSettings } from './settings.ts'
import { type EntryChange, finishWrites, writeEntry, type WriteDeps, type WrittenEntry } from './write-entries.ts'

/** Maximum delivery attempts per event. While the store is unavailable, they last until the stream drops the event. */
const maxTries = 100_000
const maxInFlight = 128

/** Consumes inbound events until disposed, and opens or closes their conditions. */
export const consumeEvents = (
  consuming: ProcessDeps & Pick<ServiceContext, 'readiness'> & { queue: Queue },
): Promise<AsyncDisposable> => {
  const { queue, readiness } = consuming
  readiness.require(
    'queue',
    () => queue.connected,
    () => queue.problem,
  )
  const consumer = {
    stream: 'EVENTS',
    name: 'events-alerted',
    subjects: inboundSubjectPattern,
    body: InboundEvent,
  } as const
  // Events that arrive together are processed as one batch, so that the open conditions are counted once, and writes do not conflict.
  const { write: take } = createBatchWriter<PendingEvent>((waiting) => processEvents(consuming, waiting))
  return queue.consume(
    { ...consumer, tries: maxTries, maxInFlight, mayRepeat: true },
    deadLetterPoisonMessages(async ({ body }) => {
      const waiting: PendingEvent = { event: body }
      await take(waiting)
      if (waiting.failure) throw waiting.failure
      return 'done'
    }),
  )
}

/** Dependencies of event processing. */
interface ProcessDeps extends WriteDeps {
  env: Environment
  /** Maximum number of open conditions; tests set a lower one. */
  maxOpen?: number
}

/** An event and, if processing it failed, the error. */
export interface PendingEvent {
  event: InboundEvent
  failure?: unknown
}

/** Opens, updates or closes the conditions of events. Processing the same event again changes nothing. */
export const processEvents = async (deps: ProcessDeps, waiting: readonly PendingEvent[]): Promise<void> => {
  const relevant = waiting.filter(({ event }) => concernsConditions(event, deps.env))
  if (relevant.length === 0) return
  await restoreInboundConditions(deps)
  const { store, maxOpen: max = maxOpenConditions } = deps
  const room = max - countOpenEntries((await store.get(openCountsKey, OpenCounts)) ?? {})
  const batch: Batch = { room, opening: new Set(), left: [], written: [] }
  const byPlace = Map.groupBy(relevant, ({ event }) => deriveEntryId(event))
  await Promise.all([...byPlace].map(([place, those]) => processInOrder(deps, batch, place, those)))
  const worst = batch.left.find(({ severity }) => severity === 'critical') ?? batch.left[0]
  if (worst)
    await writeChange(deps, batch, overflowEntryId, (entry, now) =>
      applyEvent(entry, createOverflowEvent(worst, max), now),
    )
  await finishWrites(deps, batch.written)
}

/** Shared state of one batch of events. */
interface Batch {
  /** How many more conditions may open. */
  room: number
  opening: Set<string>
  /** Events for which there was no room. */
  left: InboundEvent[]
  written: WrittenEntry[]
}

/** Processes the events of one entry in order; a failure affects only its own event. */
const processInOrder = async (
  deps: ProcessDeps,
  batch: Batch,
  place: string,
  those: readonly PendingEvent[],
): Promise<void> => {
  for (const one of those) {
    try {
      await processOne(deps, batch, place, one.event)
    } catch (error) {
      one.failure = error
    }
  }
}

const processOne = async (deps: ProcessDeps, batch: Batch, place: string, event: InboundEvent): Promise<void> => {
  const facts = applyMinSeverity(event, deps.env)
  let isLeft = false
  await writeChange(deps, batch, place, (entry, now) => {
    isLeft = false
    if (!entry?.condition) {
      // No condition opens for an event below the minimum severity, or for a late event that has already ended.
      if (facts.status !== event.status || hasEnded(facts, now.nowMs)) return 'unchanged'
      isLeft = facts.status === 'firing' && !canOpen(batch, place)
      if (isLeft) return 'unchanged'
    }
    return applyEvent(entry, facts, now)
  })
  if (isLeft) batch.left.push(event)
}

/** Returns whether the entry may open a condition, and reserves room for it once per batch. */
const canOpen = ({ room, opening }: Batch, place: string): boolean => {
  if (opening.size >= room && !opening.has(place)) return false
  opening.add(place)
  return true
}

const hasEnded = ({ status, endsAt }: EventFacts, nowMs: number): boolean =>
  status === 'firing' && endsAt !== null && endsAt <= nowMs

type Change = (entry: EventEntry | undefined, now: Parameters<typeof applyEvent>[2]) => EntryChange

const writeChange = async (deps: ProcessDeps, { written }: Batch, place: string, change: Change): Promise<void> => {
  const one = await writeEntry(deps, place, (entry, nowMs) => change(entry, { nowMs, newEpisode: randomUUID }))
  if (one) written.push(one)
}

/**
 * Returns whether an event may open or close a condition. Open conditions close even if event alerts were disabled
 * since.
 */
const concernsConditions = ({ status, source, own }: InboundEvent, env: Environment): boolean => {
  if (own || status === 'info' || status === 'acknowledged') return false
  if (status === 'resolved') return true
  const settings = parseSettings(eventAlertSettings, env)
  return (
    settings.SVC_EVENTS_ALERTS_ENABLED &&
    !settings.SVC_EVENTS_ALERTS_EXCEPT_SOURCES.some((pattern) => matchesPattern(source, pattern))
  )
}

/** Treats an event below the minimum severity as resolved. */
const applyMinSeverity = (event: InboundEvent, env: Environment): EventFacts => {
  const least = parseSettings(eventAlertSettings, env).SVC_EVENTS_ALERTS_MIN_SEVERITY
  const isNotified = event.severity === 'critical' || event.severity === least
  return event.status === 'firing' && !isNotified ? { ...event, status: 'resolved' } : event
}

/** Returns the event of the overflow condition. `severity` is the highest of the events without room. */
const createOverflowEvent = ({ severity, receivedAt }: InboundEvent, max: number): EventFacts => ({
  source: 'watchhouse',
  sourceType: 'overflow',
  status: 'firing',
  severity,
  title: `${max} inbound events are open; further ones send no notifications`,
  resource: '',
  body: 'All events are stored: see GET /api/v1/events. Resolve events at their source, or exclude sources with SVC_EVENTS_ALERTS_EXCEPT_SOURCES.',
  url: null,
  labels: {},
  occurredAt: receivedAt,
  endsAt: null,
})
