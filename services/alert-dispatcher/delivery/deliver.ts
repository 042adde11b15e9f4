import type { Outcome, QueuedMessage } from '#shared/bus/durable/queue.ts'
import { ageMs } from '#shared/time/clock.ts'
import type { Channel } from '../channels/channel.ts'
import { type Target, targetsNow } from '../channels/targets.ts'
import { afterSend, end } from './after-send.ts'
import type { Queued } from '../notice.ts'
import type { Delivering, Held, Tried, Ended, Wording } from './delivering.ts'
import { groupMessageOf } from '../messages/group-message.ts'
import { Ledger, cutOff, ledgerKey, ledgerMs, standingOf, targetKey, toldAfter } from './ledger.ts'
import { messageFrame } from '../messages/message-settings.ts'
import { type Message, messageOf } from '../messages/message.ts'
import { type Entry, Pace, enter, followedPace, paceKey, withdraw } from './pace.ts'
import { isUrgent } from './priority.ts'
import { type Batch, type Served, type Waiting, openTargetQueues } from './target-queue.ts'

/** A recovery looks this often whether the digest that tells the fire has arrived. */
const digestAgainMs = 2_000

/** Delivers the notices of one channel until disposed; then those that wait for their targets go back to the durable queue. */
export interface ChannelDelivery extends Disposable {
  /**
   * Delivers one notice to one target, alone or in a group, or says when it is to be tried again. Whatever dies in between, it is
   * delivered at least once, and more than once only when the send itself was under way.
   */
  deliver(message: QueuedMessage<Queued>): Promise<Outcome>
}

/** Opens what delivers the notices of a channel. */
export const openChannelDelivery = (delivering: Delivering, channel: Channel): ChannelDelivery => {
  const { clock } = delivering
  const queues = openTargetQueues<Tried>({
    limits: channel.limits,
    serve: (batch) => serve(delivering, channel, batch),
    ageMs: ({ queuedAtMs }) => ageMs(clock, queuedAtMs),
  })
  return {
    async deliver({ body: queued, deliveries }) {
      const isRepeated = deliveries > 1
      const tried = isOver(delivering, channel, queued)
        ? await endOfLife(delivering, channel, queued)
        : await queues.add(queued, isRepeated)
      // Without a place before its target: a database that hangs must not keep the others from being sent.
      return 'result' in tried ? end(delivering, queued, tried) : tried
    },
    [Symbol.dispose]: () => queues[Symbol.dispose](),
  }
}

const lifeMsOf = ({ retry: { lifeMs } }: Delivering, { isPaging }: Channel): number =>
  isPaging ? lifeMs.paging : lifeMs.others

const isOver = (delivering: Delivering, channel: Channel, { queuedAtMs }: Queued): boolean =>
  ageMs(delivering.clock, queuedAtMs) >= lifeMsOf(delivering, channel)

const endOfLife = async (delivering: Delivering, channel: Channel, queued: Queued): Promise<Ended> => {
  if (!(await findTarget(delivering, channel, queued))) return targetIsGone
  return (await toldBefore(delivering, queued)) ?? giveUp(delivering, queued)
}

const targetIsGone: Ended = { result: 'dropped', reason: 'its target is switched off or gone', attempts: 0 }

/** Sends the lead of a batch, with others where they are to be grouped. */
const serve = async (delivering: Delivering, channel: Channel, batch: Batch): Promise<Served<Tried>> => {
  const { lead } = batch
  const { queued } = lead
  const endLead = (tried: Tried): Served<Tried> => ({ ended: new Map([[lead, tried]]) })
  const target = await findTarget(delivering, channel, queued)
  if (!target) return endLead(targetIsGone)
  const told = lead.isRepeated ? await toldBefore(delivering, queued) : undefined
  if (told) return endLead(told)
  if (isOver(delivering, channel, queued)) return endLead(await giveUp(delivering, queued))
  const { needsOwnMessage } = target
  const isAlone = batch.group === undefined || needsOwnMessage?.(queued.notice) === true
  const candidates = isAlone ? [] : batch.others.filter((other) => !isOver(delivering, channel, other.queued))
  // Before the right to send is taken, and with it looked what the target knows: from then on nothing but the send is waited for.
  const word = await openWording(delivering)
  const entering = { lead: queued, candidates, group: isAlone ? undefined : batch.group }
  // What will most likely be sent is put into words while the store is asked.
  const [{ entry, ledger }, message] = await Promise.all([
    begin(delivering, channel, entering),
    word.one(queued.notice),
  ])
  if (!entry.entered) {
    const { waitsFor, againInMs } = entry
    return waitsFor === 'episode' ? endLead({ againInMs }) : { ended: new Map(), waits: { for: waitsFor, againInMs } }
  }
  const isPaging = channel.isPaging
  const others = batch.claim(new Set(entry.episodes.slice(1)))
  const lifeMs = lifeMsOf(delivering, channel)
  return await sendHeld(delivering, { lead, others, ledger, message, word, entry, target, lifeMs, isPaging })
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

const openWording = async ({ env, origin, hosts }: Delivering): Promise<Wording> => {
  const [by, listed] = await Promise.all([origin(), hosts()])
  const frame = { ...messageFrame(env), origin: by }
  return {
    one: (notice) => messageOf(notice, frame, listed),
    group: (notices) => groupMessageOf(notices, frame, listed),
  }
}

interface Beginning {
  lead: Queued
  candidates: readonly Waiting[]
  group: Batch['group']
}

/** Takes the right to send, and looks what the target knows of the lead. */
export const begin = async (
  { store, clock, retry: { holdMs } }: Delivering,
  { limits }: Channel,
  { lead: { channel, target, notice }, candidates, group }: Beginning,
): Promise<{ entry: Entry; ledger: Ledger | undefined }> => {
  let entry: Entry = { entered: false, waitsFor: 'target', againInMs: 0 }
  const others = candidates.map(({ queued }) => queued.notice.episode)
  const take = (before: Pace | undefined) => {
    const entering = { episodes: [notice.episode, ...others] as const, group, isUrgent: isUrgent(notice) }
    const entered = enter(before && followedPace(before, clock), { ...entering, nowMs: clock.now(), holdMs }, limits)
    entry = entered.entry
    return entered.isChanged ? { value: entered.pace } : undefined
  }
  await store.update(paceKey(channel, target), Pace, take)
  return { entry, ledger: await store.get(ledgerKey(notice.episode), Ledger) }
}

/** With the right to send, which is given back when nothing is sent. */
const sendHeld = async (delivering: Delivering, held: Held): Promise<Served<Tried>> => {
  const { lead, others, entry, target } = held
  const giveBack = () => withdrawAll(delivering, lead.queued, entry.episodes)
  const looked = await lookAtAll(delivering, held).catch(async (error: unknown) => {
    await giveBack().catch(() => {})
    throw error
  })
  const ended = new Map(looked.flatMap(([waiting, tried]) => (tried === undefined ? [] : [[waiting, tried] as const])))
  const sending = [lead, ...others].filter((waiting) => !ended.has(waiting))
  const [first, ...rest] = sending
  if (first === undefined) {
    await giveBack()
    return { ended }
  }
  const began = performance.now()
  const result = await target.send(wordsFor(held, first, rest), delivering.net)
  delivering.observe(lead.queued.channel, result.kind, (performance.now() - began) / 1_000)
  const served = await afterSend(delivering, held, sending, result)
  return { ...served, ended: new Map([...ended, ...served.ended]) }
}

const wordsFor = ({ lead, message, word }: Held, first: Waiting, others: readonly Waiting[]): Message => {
  if (others.length > 0) return word.group([first.queued.notice, ...others.map(({ queued }) => queued.notice)])
  return first === lead ? message : word.one(first.queued.notice)
}

/** For each message what is done in place of the send, looked up immediately before it; undefined where it is sent. */
const lookAtAll = (delivering: Delivering, held: Held): Promise<(readonly [Waiting, Tried | undefined])[]> => {
  const { lead, others, ledger } = held
  const looks = others.map(async (waiting) => {
    const known = await delivering.store.get(ledgerKey(waiting.queued.notice.episode), Ledger)
    return [waiting, await lookOnce(delivering, held, waiting.queued, known)] as const
  })
  return Promise.all([
    lookOnce(delivering, held, lead.queued, ledger).then((tried) => [lead, tried] as const),
    ...looks,
  ])
}

/** What is done in place of the send, when this is no longer what the target is to be told. */
const lookOnce = async (
  delivering: Delivering,
  { entry }: Held,
  queued: Queued,
  known: Ledger | undefined,
): Promise<Tried | undefined> => {
  const { notice } = queued
  if (notice.kind === 'test') return undefined
  const ledger = entry.cutOff.includes(notice.episode) ? await noteCutOff(delivering, queued) : known
  const standing = standingOf(ledger?.targets[targetKey(queued)], notice)
  if (standing === 'send') return undefined
  // A queue that was killed may have forgotten that it comes again.
  if (standing === 'told') return endOf(ledger, queued)
  return standing === 'wait' ? { againInMs: digestAgainMs } : { result: 'dropped', reason: standing.drop, attempts: 0 }
}

const withdrawAll = async (
  { store }: Delivering,
  { channel, target }: Queued,
  episodes: readonly string[],
): Promise<void> => {
  await store.update(paceKey(channel, target), Pace, (before) => ({ value: before && withdraw(before, episodes) }))
}

const noteCutOff = async ({ store }: Delivering, queued: Queued): Promise<Ledger | undefined> =>
  store.update(ledgerKey(queued.notice.episode), Ledger, (before) => ({
    value: before && cutOff(before, targetKey(queued)),
    expiresInMs: ledgerMs,
  }))

const giveUp = async ({ store }: Delivering, { channel, target }: Queued): Promise<Ended> => {
  const pace = await store.get(paceKey(channel, target), Pace)
  const last = pace?.last?.reason
  return {
    result: 'dead',
    reason: last ? `not delivered in time: ${last}` : 'not delivered in time',
    attempts: 0,
  }
}
