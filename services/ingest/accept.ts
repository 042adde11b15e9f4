import { z } from 'zod'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { type InboundEvent, inboundSubject } from '#proto/inbound-event.ts'
import { type ingest, mostEvents } from '#proto/ingest.ts'
import type { Queue } from '#shared/bus/durable/queue.ts'
import type { Store } from '#shared/store/store.ts'
import { type Clock, instant } from '#shared/time/clock.ts'
import { type Headers, type Draft, isSent, requireSound } from './adapters/adapter.ts'
import { isBinaryCloudEvent } from './adapters/cloud-events.ts'
import { adapters } from './adapters/index.ts'
import { digestOf, normalise } from './normalise.ts'

interface Accepting {
  queue: Queue
  store: Store
  clock: Clock
  /** The name of this installation. */
  origin(): Promise<string>
  observe(sourceType: string, outcome: 'kept' | 'duplicate' | 'refused'): void
}

type Accept = Handlers<typeof ingest>['accept']
type Done = Awaited<ReturnType<Accept>>[number]

/** Resolves once every event of the request that is sound is kept; what could not be kept fails the whole request, which may come again. */
export const accept =
  (accepting: Accepting): Accept =>
  async ({ body, headers }) => {
    const idempotencyKey = keyIn(headers)
    const read = readEvents(body, headers)
    const around = {
      idempotencyKey,
      receivedAt: instant(accepting.clock),
      hops: hopsIn(headers),
      origin: await accepting.origin(),
    }
    const events = read.map((one, index) => ('error' in one ? one : normalise(one, { ...around, index })))
    // A key under which nothing can be kept stays free: its sender may mend the body.
    const isClaimed = idempotencyKey !== undefined && events.some((event) => 'id' in event)
    const claim = isClaimed ? await claimKey(accepting, idempotencyKey, body) : undefined
    const taken = await Promise.all(
      events.map(async (event): Promise<Done> =>
        'error' in event ? refused(accepting, event) : keep(accepting, event, claim?.isKept ?? false),
      ),
    )
    await claim?.keep()
    return taken
  }

const refused = ({ observe }: Accepting, { error }: { error: string }): Done => {
  observe('none', 'refused')
  return { error }
}

const keep = async ({ queue, observe }: Accepting, event: InboundEvent, isKnown: boolean): Promise<Done> => {
  const { id } = event
  const duplicate = isKnown || (await queue.publish(inboundSubject(event), { id, body: event })).duplicate
  observe(event.sourceType, duplicate ? 'duplicate' : 'kept')
  return { id, duplicate }
}

const longestKey = 255

const keyIn = ({ 'idempotency-key': key }: Headers): string | undefined => {
  if (key === undefined) return undefined
  if (key === '' || key.length > longestKey)
    throw new ServiceError('invalid', `Idempotency-Key must have 1 to ${longestKey} characters`)
  return key
}

const hopsIn = ({ 'x-reemit-hops': hops = '' }: Headers): number => (/^\d{1,3}$/.test(hops) ? Number(hops) : 0)

const Claim = z.object({ body: z.string(), isKept: z.boolean() })
/** Within this time a key means the body that it came with first. */
const claimMs = 24 * 60 * 60_000

/** Takes the key for this body; throws `conflict` when it came with another one. */
const claimKey = async ({ store }: Accepting, idempotencyKey: string, body: string) => {
  const key = `ingest:key:${digestOf(idempotencyKey)}`
  const digest = digestOf(body)
  const claimed = await store.updateNew(key, Claim, (before) => ({
    value: before ?? { body: digest, isKept: false },
    expiresInMs: claimMs,
  }))
  if (claimed?.body !== digest) {
    throw new ServiceError('conflict', 'this Idempotency-Key came with another body; choose a new key for new events')
  }
  return {
    isKept: claimed.isKept,
    keep: async () => {
      if (claimed.isKept) return
      await store.update(key, Claim, () => ({ value: { body: digest, isKept: true }, expiresInMs: claimMs }))
    },
  }
}

/** One event of a request: what its adapter made of it, or why that could not be. */
type Read = (Draft & { sourceType: string }) | { error: string }

/** The events in a body, in their order. Throws `invalid` for a body in which there can be none. */
export const readEvents = (body: string, headers: Headers): Read[] => {
  const isBinary = isBinaryCloudEvent(headers)
  const value = isBinary && body === '' ? null : jsonOf(body)
  requireSound(value)
  // Of such an event the body is the data, whatever that is.
  const events = isBinary ? undefined : listIn(value)
  if (events === undefined) return within(readOne(isBinary ? { data: value } : value, headers))
  if (events.length === 0) throw new ServiceError('invalid', 'the body has no event in it')
  // What header fields say is about a body that is one event.
  const others = Object.fromEntries(Object.entries(headers).filter(([name]) => !isOfOne(name)))
  return within(events.flatMap((event) => readOne(event, others)))
}

const isOfOne = (name: string): boolean => name === 'x-webhook-id' || name.startsWith('ce-')

const within = (events: Read[]): Read[] => {
  if (events.length <= mostEvents) return events
  throw new ServiceError('too-large', `a request may bring ${mostEvents} events; this one has ${events.length}`)
}

const jsonOf = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    throw new ServiceError('invalid', 'the body is not JSON')
  }
}

/** The events of a list, or of an object that has nothing but one in it. */
const listIn = (value: unknown): unknown[] | undefined => {
  if (Array.isArray(value)) return value
  if (!isSent(value) || !('events' in value)) return undefined
  if (!Array.isArray(value.events)) throw new ServiceError('invalid', 'events must be a list')
  return value.events
}

const readOne = (value: unknown, headers: Headers): Read[] => {
  if (!isSent(value)) return [{ error: 'an event must be a JSON object' }]
  const adapter = adapters.find(({ recognises }) => recognises(value, headers))
  if (!adapter) return [{ error: 'an event must be a JSON object' }]
  try {
    return adapter.read(value, headers).map((read) => ('error' in read ? read : { ...read, sourceType: adapter.id }))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return [{ error: error.message }]
  }
}
