import { z } from 'zod'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { type InboundEvent, inboundSubject } from '#proto/inbound-event.ts'
import type { ingest } from '#proto/ingest.ts'
import type { Queue } from '#shared/bus/durable/queue.ts'
import { type Clock, instant } from '#shared/time/clock.ts'
import type { Store } from '#shared/store/store.ts'
import type { Headers } from './adapters/adapter.ts'
import { digestOf, normalise } from './normalise.ts'
import { readEvents } from './read-events.ts'

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
