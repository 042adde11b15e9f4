import { randomUUID } from 'node:crypto'
import { InboundEvent, inboundSubjects } from '#proto/inbound-event.ts'
import type { Outcome, Queue } from '#shared/bus/durable/queue.ts'
import { unlessPoison } from '#shared/bus/durable/unless-poison.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { isLike } from '../delivery/glob.ts'
import { afterEvent, type Told } from './entry.ts'
import { EventIndex, EventRecord, indexKey, mostOpen, openIn, overflowName, placeOf, recordKey } from './record.ts'
import { rebuildEvents } from './rebuild.ts'
import { eventAlertSettings } from './settings.ts'
import { writeRecord, type Writing } from './write.ts'

interface Taking extends Writing {
  env: Environment
  /** How many may be open; the product's own unless a test wants fewer. */
  mostOpen?: number
}

/** What waits for the store to come back waits for as long as the stream keeps it. */
const tries = 100_000
const maxInFlight = 64

/** Makes conditions of inbound events that fire, and ends them; until disposed. */
export const consumeEvents = (consuming: Taking & { queue: Queue }): Promise<AsyncDisposable> => {
  const consumer = { stream: 'EVENTS', name: 'events-alerted', subjects: inboundSubjects, body: InboundEvent } as const
  const inTurn = oneByOne()
  return consuming.queue.consume(
    { ...consumer, tries, maxInFlight },
    unlessPoison(({ body }) => inTurn(() => takeEvent(consuming, body))),
  )
}

/** In the order in which they came, so that the count of what is open holds. */
const oneByOne = () => {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work, work)
    last = next.catch(() => {})
    return next
  }
}

/** Begins, repeats or ends the condition that the event is about; the same event again changes nothing. */
export const takeEvent = async (taking: Taking, event: InboundEvent): Promise<Outcome> => {
  if (!isAbout(event, taking.env)) return 'done'
  await rebuildEvents(taking)
  const { name, id } = placeOf(event)
  if (event.status === 'firing' && !(await isOpen(taking, name, id))) {
    // What comes late may be over by now.
    if (event.endsAt !== null && event.endsAt <= taking.clock.now()) return 'done'
    if (!(await hasRoom(taking))) {
      await writeEvent(taking, overflowName, overflowName, overflowOf(event, taking.mostOpen))
      return 'done'
    }
  }
  await writeEvent(taking, name, id, event)
  return 'done'
}

/** Whether a condition may begin or end by it; what has begun ends, whatever was switched off since. */
const isAbout = ({ status, severity, source, own }: InboundEvent, env: Environment): boolean => {
  if (own || status === 'info' || status === 'acknowledged') return false
  if (status === 'resolved') return true
  const settings = read(eventAlertSettings, env)
  return (
    settings.SVC_EVENTS_ALERTS_ENABLED &&
    severity !== 'info' &&
    (severity === 'critical' || settings.SVC_EVENTS_ALERTS_MIN_SEVERITY === 'warning') &&
    !settings.SVC_EVENTS_ALERTS_EXCEPT_SOURCES.some((pattern) => isLike(source, pattern))
  )
}

const isOpen = async ({ store }: Taking, name: string, id: string): Promise<boolean> =>
  Boolean((await store.get(recordKey(name), EventRecord))?.entries[id]?.condition)

const hasRoom = async ({ store, mostOpen: most = mostOpen }: Taking): Promise<boolean> =>
  openIn((await store.get(indexKey, EventIndex)) ?? {}) < most

const writeEvent = (taking: Taking, name: string, id: string, event: Told): Promise<void> =>
  writeRecord(taking, name, (entries, nowMs) => ({
    ...entries,
    [id]: afterEvent(entries[id], event, { nowMs, newEpisode: randomUUID }),
  }))

/** As bad as the worst of those that it stands for. */
const overflowOf = ({ severity, receivedAt }: InboundEvent, most = mostOpen): Told => ({
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
