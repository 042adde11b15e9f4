import type { Handlers } from '#proto/contract.ts'
import type { alerts } from '#proto/alerts.ts'
import type { DeadNotice, deliveryMethods } from '#proto/delivery.ts'
import { ServiceError } from '#proto/errors.ts'
import type { DeadLetter, Queue } from '#shared/bus/durable/queue.ts'
import type { Clock } from '#shared/clock.ts'
import type { Store } from '#shared/store/store.ts'
import type { Target } from '../channels/targets.ts'
import type { Policy } from '../policy/policy.ts'
import { Pace, paceKey } from './pace.ts'
import { Queued, messageIdOf, subjectOf } from './queued.ts'
import type { Deliveries } from './records/store.ts'

export type DeliveryHandlers = Pick<Handlers<typeof alerts>, keyof typeof deliveryMethods>

interface Answering {
  store: Store
  queue: Queue
  clock: Clock
  deliveries: Deliveries
  policy(): Promise<Policy>
  targets(policy: Policy): readonly Target[]
}

/** What may be asked about how people were told. */
export const deliveryHandlers = ({
  store,
  queue,
  clock,
  deliveries,
  policy,
  targets,
}: Answering): DeliveryHandlers => ({
  deliveries: (filter) => deliveries.list(filter),
  alertTargets: async () => {
    // What people brought they see themselves.
    const now = targets(await policy()).filter(({ own }) => !own)
    return Promise.all(
      now.map(async ({ channel, id, name, minSeverity }) => {
        const pace = await store.get(paceKey(channel, id), Pace)
        const { failures = 0, broken = null, last = null } = pace ?? {}
        return { channel, id, name, minSeverity, failures, broken, last }
      }),
    )
  },
  deadLetters: async (page) => {
    const { letters, next } = await queue.dead.list(page)
    return { letters: letters.flatMap((letter) => readDead(letter)?.shown ?? []), next }
  },
  replayDeadLetter: async ({ id }) => {
    const letter = await queue.dead.get(id)
    const dead = letter && readDead(letter)
    if (!dead) throw new ServiceError('not-found', 'no such dead letter; it may have been sent again already')
    const body = { ...dead.queued, queuedAtMs: clock.now() }
    // Named after the letter, so that asking twice sends once.
    await queue.publish(subjectOf(body), { id: `${messageIdOf(body)}:again:${id}`, body })
    await queue.dead.remove(id)
    return dead.shown
  },
})

/** Undefined for a letter of another stream, or of a release whose messages were different. */
const readDead = (letter: DeadLetter): { queued: Queued; shown: DeadNotice } | undefined => {
  const parsed = Queued.safeParse(letter.body)
  if (!parsed.success) return undefined
  const { id, atMs, reason } = letter
  const { notice, channel, target } = parsed.data
  const { kind, title, hostKey, severity, episode } = notice
  return { queued: parsed.data, shown: { id, atMs, reason, channel, target, kind, title, hostKey, severity, episode } }
}
