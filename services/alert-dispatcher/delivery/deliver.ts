import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Clock } from '#shared/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Outcome, QueuedMessage } from '#shared/bus/durable/queue.ts'
import type { Store } from '#shared/store/store.ts'
import type { Outage } from '#shared/telemetry/outage.ts'
import { brokenNotice } from './broken.ts'
import type { Channel, SendResult } from '../channels/channel.ts'
import { type Target, type WayOut, targetsNow } from '../channels/targets.ts'
import type { Deliveries } from './records/store.ts'
import type { Queued } from './queued.ts'
import { type Ended, end } from './end.ts'
import { Ledger, cutOff, ledgerKey, ledgerMs, sent, standingOf, targetKey, toldAfter } from './ledger.ts'
import type { Line } from './line.ts'
import type { ListedHosts } from './listed-hosts.ts'
import { messageFrame } from './message-settings.ts'
import { type Message, messageOf } from './message.ts'
import { type Notice, asMessage } from '../notice.ts'
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
  /** Hears whether ends of deliveries can be recorded. */
  recording: Outage
  retry: RetryPlan
  line: Line
  policy(): Promise<Policy>
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
  message: QueuedMessage<Queued>,
): Promise<Outcome> => {
  const tried = await attempt(delivering, channel, message)
  // Without a place before its target: a database that hangs must not keep the others from being sent.
  return 'result' in tried ? end(delivering, message.body, tried) : tried
}

/** What came of one try. */
type Tried = Ended | { againInMs: number }

const attempt = async (
  delivering: Delivering,
  channel: Channel,
  { body: queued, deliveries }: QueuedMessage<Queued>,
): Promise<Tried> => {
  const { clock, retry, line } = delivering
  const lifeEndsAtMs = queued.queuedAtMs + (channel.isPaging ? retry.lifeMs.paging : retry.lifeMs.others)
  const isOver = clock.now() >= lifeEndsAtMs
  const { limits } = channel
  const putBack = (earliestMs: number): Tried => ({
    // A clock that counts whole milliseconds must not find it there too early, nor a timer bring it before its turn:
    // it would be taken for one that stands behind itself.
    againInMs: Math.ceil(line.turnInMs(targetKey(queued), Math.min(earliestMs + 1, longestPutBackMs), limits)) + 1,
  })
  // Only those who have a place look further: what many who wait would ask for would be in the way of those who send.
  using place = line.step(targetKey(queued), limits.concurrency)
  if (!place && !isOver) return putBack(line.placeInMs(targetKey(queued), limits.concurrency))
  const target = await findTarget(delivering, channel, queued)
  if (!target) return dropped('its target is switched off or gone')
  const told = deliveries > 1 ? await toldBefore(delivering, queued) : undefined
  if (told) return told
  if (isOver) return giveUp(delivering, queued)
  // Before the right to send is taken, and with it looked what the target knows: from then on nothing but the send is waited for.
  const word = await openWording(delivering)
  // What will most likely be sent is put into words while the store is asked.
  const [{ entry, ledger }, message] = await Promise.all([begin(delivering, channel, queued), word(queued.notice)])
  if (!entry.entered) return putBack(entry.againInMs)
  const { isPaging } = channel
  const { wasCutOff } = entry
  return await sendHeld(delivering, { queued, message, target, ledger, wasCutOff, lifeEndsAtMs, isPaging })
}

const findTarget = async (
  { policy, env }: Delivering,
  channel: Channel,
  { target }: Queued,
): Promise<Target | undefined> =>
  targetsNow({ channels: [channel], env, policy: await policy() }).find(({ id }) => id === target)

/** The end of what its target took already; undefined while it did not. It comes again where whoever sent it died, or could not record it, perhaps when its life is over. */
const toldBefore = async ({ store }: Delivering, queued: Queued): Promise<Ended | undefined> =>
  endOf(await store.get(ledgerKey(queued.notice.episode), Ledger), queued)

const endOf = (ledger: Ledger | undefined, queued: Queued): Ended | undefined => {
  const failures = toldAfter(ledger?.targets[targetKey(queued)], queued.notice.sequence)
  return failures === undefined ? undefined : { result: 'sent', reason: null, attempts: failures + 1 }
}

/** A target that rests longer may be mended meanwhile. */
const longestPutBackMs = 60_000

const openWording = async ({ env, origin, hosts }: Delivering): Promise<(notice: Notice) => Message> => {
  const [by, listed] = await Promise.all([origin(), hosts()])
  return (notice) => messageOf(notice, { ...messageFrame(env), origin: by }, listed)
}

/** Takes the right to send, and looks what the target knows; whoever has to wait writes nothing, as many may wait. */
const begin = async (
  { store, clock, retry: { holdMs } }: Delivering,
  { limits }: Channel,
  { channel, target, notice: { episode } }: Queued,
): Promise<{ entry: Entry; ledger: Ledger | undefined }> => {
  let entry: Entry = { entered: false, againInMs: 0 }
  const take = (before: Pace | undefined) => {
    const entered = enter(before, { episode, nowMs: clock.now(), holdMs }, limits)
    entry = entered.entry
    return entry.entered ? { value: entered.pace } : undefined
  }
  const known = { key: ledgerKey(episode), schema: Ledger }
  const { next: ledger } = await store.updateThenGet(paceKey(channel, target), Pace, take, known)
  return { entry, ledger }
}

interface Held {
  queued: Queued
  message: Message
  target: Target
  /** As it was when the right to send was taken. */
  ledger: Ledger | undefined
  wasCutOff: boolean
  lifeEndsAtMs: number
  isPaging: boolean
}

/** With the right to send, which is given back when nothing is sent. */
const sendHeld = async (delivering: Delivering, held: Held): Promise<Tried> => {
  const { queued, message, target } = held
  const instead = await lookOnce(delivering, held).catch(async (error: unknown) => {
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

/** What is done in place of the send, when this is no longer what the target is to be told; looked up immediately before it. */
const lookOnce = async (delivering: Delivering, held: Held): Promise<Tried | undefined> => {
  const { notice } = held.queued
  if (notice.kind === 'test') return undefined
  const ledger = held.wasCutOff ? await noteCutOff(delivering, held.queued) : held.ledger
  const standing = standingOf(ledger?.targets[targetKey(held.queued)], notice)
  if (standing === 'send') return undefined
  // A queue that was killed may have forgotten that it comes again.
  if (standing === 'told') return endOf(ledger, held.queued)
  return standing === 'wait' ? { againInMs: digestAgainMs } : dropped(standing.drop)
}

const giveBack = async ({ store }: Delivering, { channel, target, notice }: Queued): Promise<void> => {
  await store.update(paceKey(channel, target), Pace, (before) => ({
    value: before && withdraw(before, notice.episode),
  }))
}

const noteCutOff = async ({ store }: Delivering, queued: Queued): Promise<Ledger | undefined> =>
  store.update(ledgerKey(queued.notice.episode), Ledger, (before) => ({
    value: before && cutOff(before, targetKey(queued)),
    expiresInMs: ledgerMs,
  }))

/** Writes down how a send went, first in the ledger: whoever sends to this target next must find it there. */
const afterSend = async (delivering: Delivering, held: Held, result: SendResult): Promise<Tried> => {
  const { queued, lifeEndsAtMs } = held
  const { retry, clock } = delivering
  const failures = await patiently(() => writeLedger(delivering, queued, result))
  const askedMs = result.kind === 'retry' ? result.afterMs : undefined
  const rest = (count: number) => restMs(retry, count, askedMs, Math.random())
  const restsMs = await patiently(() => writePace(delivering, held, result, rest))
  const ownMs = waitMs(retry, failures, askedMs, Math.random())
  if (result.kind === 'ok') return { result: 'sent', reason: null, attempts: failures + 1 }
  delivering.log.warn(
    { channel: queued.channel, target: queued.target, result: result.kind, reason: result.reason, failures },
    'alert not delivered',
  )
  const isOver = isFinal(result, held) || clock.now() + ownMs >= lifeEndsAtMs
  if (isOver) return { result: 'dead', reason: result.reason, attempts: failures }
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

const giveUp = async ({ store }: Delivering, { channel, target }: Queued): Promise<Ended> => {
  const pace = await store.get(paceKey(channel, target), Pace)
  const last = pace?.last?.reason
  return {
    result: 'dead',
    reason: last ? `not delivered in time: ${last}` : 'not delivered in time',
    attempts: 0,
  }
}

const dropped = (reason: string): Ended => ({ result: 'dropped', reason, attempts: 0 })
