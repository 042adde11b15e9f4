import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Clock } from '#shared/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Outcome, QueuedMessage } from '#shared/bus/durable/queue.ts'
import type { Store } from '#shared/store/store.ts'
import { brokenNotice } from './broken.ts'
import type { Channel, SendResult } from '../channels/channel.ts'
import type { Target, WayOut } from '../channels/targets.ts'
import type { Deliveries, End } from './records/store.ts'
import { type Queued, messageIdOf } from './queued.ts'
import { Ledger, cutOff, digestEnded, ledgerKey, ledgerMs, sent, standingOf, targetKey } from './ledger.ts'
import type { Line } from './line.ts'
import type { ListedHosts } from './listed-hosts.ts'
import { messageFrame } from './message-settings.ts'
import { type Message, messageOf } from './message.ts'
import { asMessage } from '../notice.ts'
import { type Entry, Pace, enter, leave, paceKey, withdraw } from './pace.ts'
import type { Policy } from '../policy/policy.ts'
import { type RetryPlan, restMs, waitMs } from './retry.ts'

/** What delivering needs. */
export interface Delivering {
  env: Environment
  store: Store
  net: WayOut
  clock: Clock
  log: Logger
  deliveries: Deliveries
  retry: RetryPlan
  line: Line
  policy(): Promise<Policy>
  targets(policy: Policy): readonly Target[]
  hosts(): Promise<ListedHosts>
  /** The name of our installation. */
  origin(): Promise<string>
  /** Hears of each send and of how long it took, in seconds. */
  observe(channel: string, result: SendResult['kind'], seconds: number): void
}

/** A recovery looks this often whether the digest that tells the fire has arrived. */
const digestAgainMs = 2_000

/**
 * Delivers one notice to one target, or says when it is to be tried again. Whatever dies in between, it is delivered at least
 * once, and more than once only when the send itself was under way.
 */
export const deliver = async (
  delivering: Delivering,
  channel: Channel,
  { body: queued }: QueuedMessage<Queued>,
): Promise<Outcome> => {
  const { store, clock, retry, line } = delivering
  const target = await findTarget(delivering, queued)
  if (!target) return end(delivering, queued, 'dropped', 'its target is switched off or gone')
  const lifeEndsAtMs = queued.queuedAtMs + (channel.isPaging ? retry.lifeMs.paging : retry.lifeMs.others)
  if (clock.now() >= lifeEndsAtMs) return giveUp(delivering, queued)
  const { concurrency, perSecond } = channel.limits
  const putBack = (earliestMs: number): Outcome => ({
    // A clock that counts whole milliseconds must not find it there too early.
    againInMs: line.turnInMs(targetKey(queued), Math.min(earliestMs + 1, longestPutBackMs), perSecond),
  })
  // Only those who have a place look into the store: many who wait would be in each other's way there.
  using place = line.step(targetKey(queued), concurrency)
  if (!place) return putBack(0)
  const entry = await begin(delivering, channel, queued, await store.get(paceKey(queued.channel, queued.target), Pace))
  if (!entry.entered) return putBack(entry.againInMs)
  const { isPaging } = channel
  return await sendHeld(delivering, { queued, target, wasCutOff: entry.wasCutOff, lifeEndsAtMs, isPaging })
}

const findTarget = async ({ policy, targets }: Delivering, queued: Queued): Promise<Target | undefined> =>
  targets(await policy()).find(({ channel, id }) => channel === queued.channel && id === queued.target)

/** A target that rests longer may be mended meanwhile. */
const longestPutBackMs = 60_000

/** Takes the right to send; what has to wait is seen without a write, as many may wait. */
const begin = async (
  { store, clock, retry: { holdMs } }: Delivering,
  { limits }: Channel,
  { channel, target, notice: { episode } }: Queued,
  known: Pace | undefined,
): Promise<Entry> => {
  const step = (pace: Pace | undefined) => enter(pace, { episode, nowMs: clock.now(), holdMs }, limits)
  let { entry } = step(known)
  if (!entry.entered) return entry
  await store.update(paceKey(channel, target), Pace, (before) => {
    const entered = step(before)
    entry = entered.entry
    return { value: entered.pace }
  })
  return entry
}

interface Held {
  queued: Queued
  target: Target
  wasCutOff: boolean
  lifeEndsAtMs: number
  isPaging: boolean
}

/** With the right to send, which is given back when nothing is sent. */
const sendHeld = async (delivering: Delivering, held: Held): Promise<Outcome> => {
  const { queued, target } = held
  const { message, instead } = await lookOnce(delivering, held).catch(async (error: unknown) => {
    await giveBack(delivering, queued).catch(() => {})
    throw error
  })
  if (instead !== undefined) {
    await giveBack(delivering, queued)
    return instead
  }
  const began = performance.now()
  const result = await target.send(message, delivering.net)
  delivering.observe(queued.channel, result.kind, (performance.now() - began) / 1_000)
  return afterSend(delivering, held, result)
}

/** Whether this is still what the target is to be told, looked up immediately before it is sent. */
const lookOnce = async (
  delivering: Delivering,
  { queued, wasCutOff }: Held,
): Promise<{ message: Message; instead?: Outcome }> => {
  const { notice } = queued
  const frame = { ...messageFrame(delivering.env), origin: await delivering.origin() }
  const message = messageOf(notice, frame, await delivering.hosts())
  if (notice.kind === 'test') return { message }
  const ledger = await knownOf(delivering, queued, wasCutOff)
  const standing = standingOf(ledger?.targets[targetKey(queued)], notice)
  if (standing === 'send') return { message }
  if (standing === 'wait') return { message, instead: { againInMs: digestAgainMs } }
  return { message, instead: await end(delivering, queued, 'dropped', standing.drop) }
}

const giveBack = async ({ store }: Delivering, { channel, target, notice }: Queued): Promise<void> => {
  await store.update(paceKey(channel, target), Pace, (before) => ({
    value: before && withdraw(before, notice.episode),
  }))
}

const knownOf = async ({ store }: Delivering, queued: Queued, wasCutOff: boolean): Promise<Ledger | undefined> => {
  const key = ledgerKey(queued.notice.episode)
  if (!wasCutOff) return store.get(key, Ledger)
  return store.update(key, Ledger, (before) => ({
    value: before && cutOff(before, targetKey(queued)),
    expiresInMs: ledgerMs,
  }))
}

/** Writes down how a send went, first in the ledger: whoever sends to this target next must find it there. */
const afterSend = async (delivering: Delivering, held: Held, result: SendResult): Promise<Outcome> => {
  const { queued, lifeEndsAtMs } = held
  const { retry, clock } = delivering
  const failures = await patiently(() => writeLedger(delivering, queued, result))
  const askedMs = result.kind === 'retry' ? result.afterMs : undefined
  const rest = (count: number) => restMs(retry, count, askedMs, Math.random())
  const restsMs = await patiently(() => writePace(delivering, held, result, rest))
  const ownMs = waitMs(retry, failures, askedMs, Math.random())
  if (result.kind === 'ok') return end(delivering, queued, 'sent', null, failures + 1)
  delivering.log.warn(
    { channel: queued.channel, target: queued.target, result: result.kind, reason: result.reason, failures },
    'alert not delivered',
  )
  const isOver = isFinal(result, held) || clock.now() + ownMs >= lifeEndsAtMs
  if (isOver) return end(delivering, queued, 'dead', result.reason, failures)
  // Back before its target has rested it would only be put back again.
  return { againInMs: Math.max(ownMs, Math.min(restsMs, longestPutBackMs)) }
}

/** Whether no later try could help. A page goes on as long as it lives: somebody may mend its target, who is told by the others. */
const isFinal = ({ kind }: SendResult, { queued: { notice }, isPaging }: Held): boolean =>
  kind === 'permanent' || (kind === 'config' && !isPaging && notice.severity !== 'critical')

/** Gives how often this notice has failed. */
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

/** Gives how long the target rests. */
const writePace = async (
  { store, clock }: Delivering,
  { queued, target: { own } }: Held,
  result: SendResult,
  restMs: (failures: number) => number,
): Promise<number> => {
  const { channel, target, notice } = queued
  const left = await store.update(paceKey(channel, target), Pace, (before) => {
    const nowMs = clock.now()
    const value = leave(before, { episode: notice.episode, nowMs, result, restMs })
    // The others are the operator's, who cannot mend what somebody brought.
    const told = own ? undefined : brokenNotice({ channel, target }, before?.broken ?? null, value.broken, nowMs)
    return { value, outbox: told ? [asMessage(told)] : [] }
  })
  return Math.max(0, (left?.restsUntilMs ?? 0) - clock.now())
}

const patienceMs = 10_000
const patienceEveryMs = 200

/** What a send did must not be forgotten because the store is away for a moment: it would be sent again. */
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

const giveUp = async (delivering: Delivering, queued: Queued): Promise<Outcome> => {
  const pace = await delivering.store.get(paceKey(queued.channel, queued.target), Pace)
  const last = pace?.last?.reason
  return end(delivering, queued, 'dead', last ? `not delivered in time: ${last}` : 'not delivered in time')
}

/** The end of a message: told to the digest's episodes and to the record of deliveries. */
const end = async (
  { store, deliveries, clock, log }: Delivering,
  queued: Queued,
  result: End,
  reason: string | null,
  attempts = 0,
): Promise<Outcome> => {
  const { notice, channel, target } = queued
  const { episode, sequence, kind, ruleId, hostKey, severity } = notice
  const open = notice.gathered.filter(({ recovered }) => !recovered)
  await Promise.all(
    open.map((gathered) =>
      store.update(ledgerKey(gathered.episode), Ledger, (before) => ({
        value: before && digestEnded(before, targetKey(queued), result === 'sent'),
        expiresInMs: ledgerMs,
      })),
    ),
  )
  const of = { episode, sequence, kind, ruleId, hostKey, severity, channel, target }
  await deliveries
    .put({ id: messageIdOf(queued), atMs: clock.now(), ...of, result, reason, attempts })
    // The record is for people; what decides is in the store.
    .catch((error: unknown) => log.warn({ err: error }, 'delivery could not be recorded'))
  return result === 'dead' ? { dead: reason ?? 'not delivered' } : 'done'
}
