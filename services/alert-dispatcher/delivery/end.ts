import type { Outcome } from '#shared/bus/durable/queue.ts'
import { ageMs } from '#shared/clock.ts'
import { type Queued, messageIdOf } from './queued.ts'
import type { Delivering, Ended } from './delivering.ts'
import { Ledger, digestEnded, gaveUp, ledgerKey, ledgerMs, targetKey } from './ledger.ts'

type Ending = Pick<Delivering, 'store' | 'deliveries' | 'clock' | 'recording' | 'retry'>

/** The end of a message: told to the digest's episodes and to the record of deliveries. It comes again while it cannot be recorded. */
export const end = async (ending: Ending, queued: Queued, ended: Ended): Promise<Outcome> => {
  const { store, clock, retry } = ending
  const open = queued.notice.gathered.filter(({ recovered }) => !recovered)
  await Promise.all(
    open.map((gathered) =>
      store.update(ledgerKey(gathered.episode), Ledger, (before) => ({
        value: before && digestEnded(before, targetKey(queued), ended.result === 'sent'),
        expiresInMs: ledgerMs,
      })),
    ),
  )
  if (ended.result === 'dead') await noteGivenUp(ending, queued)
  const isRecorded = await record(ending, queued, ended)
  // It would be sent again for its record alone, and the letter says why it is dead.
  if (ended.result === 'dead') return { dead: ended.reason ?? 'not delivered' }
  // The record is for people: what decides is in the store, and no queue may fill because of it.
  const isWaitedFor = ageMs(clock, queued.queuedAtMs) < retry.lifeMs.others
  return isRecorded || !isWaitedFor ? 'done' : { againInMs: retry.recordAgainMs }
}

const noteGivenUp = async ({ store }: Ending, queued: Queued): Promise<void> => {
  const { episode, sequence } = queued.notice
  await store.update(
    ledgerKey(episode),
    Ledger,
    (before) => before && { value: gaveUp(before, targetKey(queued), sequence), expiresInMs: ledgerMs },
  )
}

const record = async ({ deliveries, clock, recording }: Ending, queued: Queued, ended: Ended): Promise<boolean> => {
  const { notice, channel, target } = queued
  const { episode, sequence, kind, ruleId, hostKey, severity } = notice
  const of = { episode, sequence, kind, ruleId, hostKey, severity, channel, target }
  try {
    await deliveries.put({ id: messageIdOf(queued), atMs: clock.now(), ...of, ...ended })
    recording.worked()
    return true
  } catch (error) {
    recording.failed(error)
    return false
  }
}
