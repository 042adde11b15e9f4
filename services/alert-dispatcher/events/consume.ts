import { randomUUID } from 'node:crypto'
import { InboundEvent, inboundSubjects } from '#proto/inbound-event.ts'
import { inBatches } from '#shared/bus/durable/batches.ts'
import type { Queue } from '#shared/bus/durable/queue.ts'
import { unlessPoison } from '#shared/bus/durable/unless-poison.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import type { Context } from '#shared/lifecycle/service.ts'
import { isLike } from '../delivery/routing.ts'
import { afterEvent, type Told } from './entry.ts'
import { OpenCounts, countsKey, openIn } from './places.ts'
import { rebuildEvents } from './rebuild.ts'
import { type EventEntry, mostOpen, overflowPlace, placeOf } from './record.ts'
import { eventAlertSettings } from './settings.ts'
import { type Changed, settle, writeEntry, type Writing, type Written } from './write.ts'

/** What waits for the store to come back waits for as long as the stream keeps it. */
const tries = 100_000
const maxInFlight = 128

/** Makes conditions of inbound events that fire, and ends them; until disposed. */
export const consumeEvents = (
  consuming: Taking & Pick<Context, 'readiness'> & { queue: Queue },
): Promise<AsyncDisposable> => {
  const { queue, readiness } = consuming
  readiness.require(
    'queue',
    () => queue.connected,
    () => queue.problem,
  )
  const consumer = { stream: 'EVENTS', name: 'events-alerted', subjects: inboundSubjects, body: InboundEvent } as const
  // What comes meanwhile is taken together: it is counted once, and no two are in each other's way.
  const { write: take } = inBatches<Waiting>((waiting) => takeEvents(consuming, waiting))
  return queue.consume(
    { ...consumer, tries, maxInFlight, mayRepeat: true },
    unlessPoison(async ({ body }) => {
      const waiting: Waiting = { event: body }
      await take(waiting)
      if (waiting.failure) throw waiting.failure
      return 'done'
    }),
  )
}

/** What taking events needs. */
interface Taking extends Writing {
  env: Environment
  /** How many may be open; the product's own unless a test wants fewer. */
  mostOpen?: number
}

/** An event, and why it alone could not be taken. */
export interface Waiting {
  event: InboundEvent
  failure?: unknown
}

/** Begins, repeats or ends the conditions that events are about; the same event again changes nothing. */
export const takeEvents = async (taking: Taking, waiting: readonly Waiting[]): Promise<void> => {
  const about = waiting.filter(({ event }) => isAbout(event, taking.env))
  if (about.length === 0) return
  await rebuildEvents(taking)
  const { store, mostOpen: most = mostOpen } = taking
  const room = most - openIn((await store.get(countsKey, OpenCounts)) ?? {})
  const batch: Batch = { room, opening: new Set(), left: [], written: [] }
  const byPlace = Map.groupBy(about, ({ event }) => placeOf(event))
  await Promise.all([...byPlace].map(([place, those]) => takeInOrder(taking, batch, place, those)))
  const worst = batch.left.find(({ severity }) => severity === 'critical') ?? batch.left[0]
  if (worst) await write(taking, batch, overflowPlace, (entry, now) => afterEvent(entry, overflowOf(worst, most), now))
  await settle(taking, batch.written)
}

/** What one batch of events does together. */
interface Batch {
  /** How many more may open. */
  room: number
  opening: Set<string>
  /** Events for which there was no room. */
  left: InboundEvent[]
  written: Written[]
}

/** Events about one thing. One that fails by itself fails alone. */
const takeInOrder = async (taking: Taking, batch: Batch, place: string, those: readonly Waiting[]): Promise<void> => {
  for (const one of those) {
    try {
      await takeOne(taking, batch, place, one.event)
    } catch (error) {
      one.failure = error
    }
  }
}

const takeOne = async (taking: Taking, batch: Batch, place: string, event: InboundEvent): Promise<void> => {
  const told = meaningOf(event, taking.env)
  let isLeft = false
  await write(taking, batch, place, (entry, now) => {
    isLeft = false
    if (!entry?.condition) {
      // Nobody was told of what is not worth telling, and what comes late may be over by now.
      if (told.status !== event.status || isPast(told, now.nowMs)) return 'stays'
      isLeft = told.status === 'firing' && !mayOpen(batch, place)
      if (isLeft) return 'stays'
    }
    return afterEvent(entry, told, now)
  })
  if (isLeft) batch.left.push(event)
}

/** Takes room for a place, once. */
const mayOpen = ({ room, opening }: Batch, place: string): boolean => {
  if (opening.size >= room && !opening.has(place)) return false
  opening.add(place)
  return true
}

const isPast = ({ status, endsAt }: Told, nowMs: number): boolean =>
  status === 'firing' && endsAt !== null && endsAt <= nowMs

type Change = (entry: EventEntry | undefined, now: Parameters<typeof afterEvent>[2]) => Changed

const write = async (taking: Taking, { written }: Batch, place: string, change: Change): Promise<void> => {
  const one = await writeEntry(taking, place, (entry, nowMs) => change(entry, { nowMs, newEpisode: randomUUID }))
  if (one) written.push(one)
}

/** Whether a condition may begin or end by it; what has begun ends, whatever was switched off since. */
const isAbout = ({ status, source, own }: InboundEvent, env: Environment): boolean => {
  if (own || status === 'info' || status === 'acknowledged') return false
  if (status === 'resolved') return true
  const settings = read(eventAlertSettings, env)
  return (
    settings.SVC_EVENTS_ALERTS_ENABLED &&
    !settings.SVC_EVENTS_ALERTS_EXCEPT_SOURCES.some((pattern) => isLike(source, pattern))
  )
}

/** What has become too mild for people to be told of is over for them. */
const meaningOf = (event: InboundEvent, env: Environment): Told => {
  const least = read(eventAlertSettings, env).SVC_EVENTS_ALERTS_MIN_SEVERITY
  const isTold = event.severity === 'critical' || event.severity === least
  return event.status === 'firing' && !isTold ? { ...event, status: 'resolved' } : event
}

/** As bad as the worst of those that it stands for. */
const overflowOf = ({ severity, receivedAt }: InboundEvent, most: number): Told => ({
  source: 'watchhouse',
  sourceType: 'overflow',
  status: 'firing',
  severity,
  title: `${most} inbound events are open; nobody is told of further ones`,
  resource: '',
  body: 'Events are kept: see GET /api/v1/events. Close what is over at its source, or leave sources out.',
  url: null,
  labels: {},
  occurredAt: receivedAt,
  endsAt: null,
})
