import { setTimeout as wait } from 'node:timers/promises'
import type { Outcome } from '#shared/bus/durable/queue.ts'
import { ageMs } from '#shared/time/clock.ts'
import type { SendResult } from '../channels/channel.ts'
import { asMessage, type Queued, messageIdOf } from '../notice.ts'
import { brokenNotice } from './broken.ts'
import type { Delivering, Held, Tried, Ended } from './delivering.ts'
import { Ledger, ledgerKey, ledgerMs, sent, targetKey, digestEnded, gaveUp } from './ledger.ts'
import { Pace, followedPace, leave, paceKey } from './pace.ts'
import { restMs, waitMs } from './retry.ts'
import type { Served, Waiting } from './target-queue.ts'

/** Writes down how the send of these messages went, first in the ledgers: the next process that sends to this target must find it there. */
export const afterSend = async (
  delivering: Delivering,
  held: Held,
  sending: readonly Waiting[],
  result: SendResult,
): Promise<Served<Tried>> => {
  const { channel, target } = held.lead.queued
  const isGroup = sending.length > 1
  const askedMs = result.kind === 'retry' ? result.afterMs : undefined
  const rest = (count: number) => restMs(delivering.retry, count, askedMs, Math.random())
  // What the target says of the group it may not say of its messages, which are sent one by one.
  const isGroupRefused = isGroup && result.kind === 'permanent'
  const failures = isGroupRefused ? new Map() : await writeLedgers(delivering, sending, result)
  const restsMs = await patiently(() => writePace(delivering, held, result, rest))
  if (isGroup)
    delivering.log.info({ channel, target, notices: sending.length, result: result.kind }, 'notifications grouped')
  if (result.kind !== 'ok') {
    const facts = { channel, target, notices: sending.length, result: result.kind, reason: result.reason }
    delivering.log.warn({ ...facts, failures: failures.get(sending[0]) ?? 0 }, 'notification failed')
  }
  if (isGroupRefused) return { ended: new Map(), isGroupRefused }
  const after: After = { result, restsMs, askedMs, others: sending.length - 1 }
  const ended = sending.map((each) => [each, triedOf(delivering, held, each, failures.get(each) ?? 0, after)] as const)
  return { ended: new Map(ended), ...(restsMs > 0 && { waits: { for: 'rest', againInMs: restsMs } }) }
}

interface After {
  result: SendResult
  restsMs: number
  askedMs: number | undefined
  /** Notices that were in the same message. */
  others: number
}

/** A target that rests longer may be repaired meanwhile. */
const longestPutBackMs = 60_000

const triedOf = (
  { retry, clock }: Delivering,
  held: Held,
  { queued }: Waiting,
  failures: number,
  { result, restsMs, askedMs, others }: After,
): Tried => {
  if (result.kind === 'ok') {
    const reason = others > 0 ? `sent in one message with ${others} ${others === 1 ? 'other' : 'others'}` : null
    return { result: 'sent', reason, attempts: failures + 1 }
  }
  const ownMs = waitMs(retry, failures, askedMs, Math.random())
  const isOver = isFinal(result, queued, held) || ageMs(clock, queued.queuedAtMs) + ownMs >= held.lifeMs
  if (isOver) return { result: 'dead', reason: result.reason, attempts: failures }
  // Back before its target has rested it would only be put back again.
  return { againInMs: Math.max(ownMs, Math.min(restsMs, longestPutBackMs)) }
}

/** Whether no later try could help. A page is tried as long as it lives: an operator may repair its target, which the others report. */
const isFinal = ({ kind }: SendResult, { notice }: Queued, { isPaging }: Held): boolean =>
  kind === 'permanent' || (kind === 'config' && !isPaging && notice.severity !== 'critical')

/** Returns how often each notice has failed. */
const writeLedgers = async (
  delivering: Delivering,
  sending: readonly Waiting[],
  result: SendResult,
): Promise<Map<Waiting, number>> => {
  const written = sending.map(
    async (each) => [each, await patiently(() => writeLedger(delivering, each.queued, result))] as const,
  )
  return new Map(await Promise.all(written))
}

const writeLedger = async ({ store }: Delivering, queued: Queued, result: SendResult): Promise<number> => {
  const key = targetKey(queued)
  let failures = 0
  await store.update(ledgerKey(queued.notice.episode), Ledger, (before) => {
    const value = sent(before, key, queued.notice, result)
    const failedBefore = before?.targets[key]?.failures ?? 0
    failures = result.kind === 'ok' ? failedBefore : failedBefore + 1
    return { value, expiresInMs: ledgerMs }
  })
  return failures
}

/** Returns how long the target rests. */
const writePace = async (
  { store, clock }: Delivering,
  { lead, entry: { episodes }, target: { own } }: Held,
  result: SendResult,
  restMs: (failures: number) => number,
): Promise<number> => {
  const { channel, target } = lead.queued
  const left = await store.update(paceKey(channel, target), Pace, (before) => {
    const nowMs = clock.now()
    const value = leave(before && followedPace(before, clock), { episodes, nowMs, result, restMs })
    // The others are the operator's, who cannot repair a target that a person added.
    const broken = own ? undefined : brokenNotice({ channel, target }, before?.broken ?? null, value.broken, nowMs)
    return { value, outbox: broken ? [asMessage(broken)] : [] }
  })
  return left ? Math.max(0, -ageMs(clock, left.restsUntilMs)) : 0
}

const patienceMs = 10_000
const patienceEveryMs = 200

/** What a send did must not be forgotten because the store is unavailable for a moment: it would be sent again. */
const patiently = async <T>(write: () => Promise<T>): Promise<T> => {
  const until = performance.now() + patienceMs
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (performance.now() > until) throw error
      await wait(patienceEveryMs)
    }
  }
}

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
