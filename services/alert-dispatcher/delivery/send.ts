import { ageMs } from '#shared/time/clock.ts'
import type { Channel } from '../channels/channel.ts'
import type { Notice } from '../notice.ts'
import { groupMessageOf } from '../messages/group-message.ts'
import { messageFrame } from '../messages/message-settings.ts'
import { type Message, messageOf } from '../messages/message.ts'
import { type Delivering, type Notification, openInStore } from './delivering.ts'
import { type Sending, endAfterSend, endWithout, isLost, targetIsGone } from './end.ts'
import type { Hand } from './hand.ts'
import { type Entry, Pace, enter, followedPace, isHeld, paceKey } from './pace.ts'
import { isUrgent } from './priority.ts'
import {
  DeliveryRecord,
  type Standing,
  begin as beginSend,
  cutOff,
  open,
  recordKey,
  recordMs,
  standingOf,
  targetKey,
} from './record.ts'
import { type Batch, type Served, type TargetQueue, type Waiting, openTargetQueues } from './target-queue.ts'

/** A recovery looks this often whether the digest that tells the fire has arrived. */
const digestAgainMs = 2_000

/** Delivers the notifications of one channel: each waits in the queue of its target until it has an end. */
export const openChannelDelivery = (
  delivering: Delivering,
  hand: Hand,
  channel: Channel,
): Omit<TargetQueue, 'size'> => {
  const { clock, log } = delivering
  const isOver = ({ sinceMs }: Notification) => ageMs(clock, sinceMs) >= lifeMsOf(delivering, channel)
  const leave = async (notification: Notification, why: 'no-room' | 'over') => {
    if (why === 'over') return void (await end(delivering, hand, channel, notification))
    const { notice, opening, kept } = notification
    // Its life begins with the first time that it was put before its target.
    if (!kept.isRecord) await openInStore(delivering.store, notice, { opening, isStored: false })
    kept.isRecord = true
    await hand.putOff(notification)
  }
  return openTargetQueues({
    limits: channel.limits,
    serve: (batch) => serve(delivering, hand, channel, batch),
    ageMs: ({ sinceMs }) => ageMs(clock, sinceMs),
    isOver,
    leave: (notification, why) =>
      // Its claim runs out, and whoever claims it next tries the same.
      void leave(notification, why).catch((error: unknown) => {
        hand.forget([notification.message])
        log.warn({ err: error }, 'notification could not be ended; it comes again')
      }),
    failed: (error) =>
      log.warn({ err: error, channel: channel.id }, 'notification could not be sent; it is tried again'),
  })
}

const lifeMsOf = ({ retry: { lifeMs } }: Delivering, { isPaging }: Channel): number =>
  isPaging ? lifeMs.paging : lifeMs.others

/** The end of a notification whose life is over. */
const end = async (
  delivering: Delivering,
  hand: Hand,
  { id: channel }: Channel,
  notification: Notification,
): Promise<boolean> => {
  const pace = await delivering.store.get(paceKey(channel, notification.target), Pace)
  const last = pace?.last?.reason
  const reason = last ? `not delivered in time: ${last}` : 'not delivered in time'
  return endWithout(delivering, hand, notification, { result: 'dead', reason, attempts: 0 })
}

/** Sends the lead of a batch, with others where they are to be grouped. */
const serve = async (delivering: Delivering, hand: Hand, channel: Channel, batch: Batch): Promise<Served> => {
  const { lead } = batch
  const { notification } = lead
  // It was claimed anew, and is delivered as that.
  if (!hand.isHeld(notification.message)) return { ended: new Set([lead]) }
  const endLead = async (hasEnded: Promise<boolean>): Promise<Served> => ({
    ended: new Set((await hasEnded) ? [lead] : []),
  })
  const policy = await delivering.policy()
  const target = delivering
    .targets(policy)
    .find((each) => each.channel === channel.id && each.id === notification.target)
  if (!target) return endLead(endWithout(delivering, hand, notification, targetIsGone))
  const lifeMs = lifeMsOf(delivering, channel)
  const isOver = ({ sinceMs }: Notification) => ageMs(delivering.clock, sinceMs) >= lifeMs
  if (isOver(notification)) return endLead(end(delivering, hand, channel, notification))
  const isAlone = batch.group === undefined || target.needsOwnMessage?.(notification.notice) === true
  const candidates = isAlone
    ? []
    : batch.others.filter((other) => hand.isHeld(other.notification.message) && !isOver(other.notification))
  // Before the right to send is taken: from then on nothing but the send is waited for.
  const word = await openWording(delivering)
  // What will most likely be sent is put into words while the store is asked.
  const [begun, message] = await Promise.all([
    begin(delivering, channel, { lead, candidates, group: isAlone ? undefined : batch.group }),
    word.one(notification.notice),
  ])
  if (begun.state === 'gone') {
    await forgetGone(delivering, hand, [lead, ...candidates])
    return { ended: new Set(hand.isHeld(notification.message) ? [] : [lead]) }
  }
  if (begun.state === 'ended') return endLead(endWithout(delivering, hand, notification, begun.end))
  if (begun.state === 'waits') return waitsOf(lead, begun.entry)
  const others = batch.claim(new Set(begun.taken.slice(1)))
  const sending: Sending = {
    channel,
    target,
    lifeMs,
    items: [lead, ...others],
    begun: begun.taken,
    attempts: begun.attempts,
  }
  const began = performance.now()
  const words = others.length === 0 ? message : word.group([notification.notice, ...others.map(noticeOf)])
  const result = await target.send(words, delivering.net)
  delivering.observe(channel.id, result.kind, (performance.now() - began) / 1_000)
  return endAfterSend(delivering, hand, sending, result)
}

const noticeOf = ({ notification }: Waiting): Notice => notification.notice

const waitsOf = (lead: Waiting, { waitsFor, againInMs }: Extract<Entry, { entered: false }> | DigestWait): Served =>
  waitsFor === 'episode'
    ? { ended: new Set(), againInMs: new Map([[lead, againInMs]]) }
    : { ended: new Set(), waits: { for: waitsFor, againInMs } }

interface DigestWait {
  waitsFor: 'episode'
  againInMs: number
}

/**
 * What the outbox holds no more was ended elsewhere, or lost with the store, which decides anew what is still true. What it holds again
 * although the record was lost comes again, and who was told is found out then.
 */
const forgetGone = async ({ store, log }: Delivering, hand: Hand, items: readonly Waiting[]): Promise<void> => {
  const messages = new Set(items.map(({ notification }) => notification.message))
  const [held, records] = await Promise.all([
    store.outbox.holds([...messages].map(({ id }) => id)),
    store.getAll(items.map(keyOf), DeliveryRecord),
  ])
  const stored = new Map(items.map((item, index) => [keyOf(item), records[index]]))
  const lost = new Set(items.filter(({ notification }) => isLost(notification, stored)).map(messageIdOf))
  const gone = [...messages].filter(({ id }) => !held.has(id) || lost.has(id))
  hand.forget(gone)
  log.info({ messages: gone.length }, 'outbox holds notifications no more; they are not sent')
}

interface Wording {
  one(notice: Notice): Message
  group(notices: readonly [Notice, ...Notice[]]): Message
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
  lead: Waiting
  candidates: readonly Waiting[]
  group: Batch['group']
}

type Begun =
  | { state: 'begun'; taken: readonly Waiting[]; attempts: ReadonlyMap<Waiting, number> }
  | { state: 'waits'; entry: Extract<Entry, { entered: false }> | DigestWait }
  | { state: 'ended'; end: Parameters<typeof endWithout>[3] }
  | { state: 'gone' }

/** Takes the right to send in one write with the records of what is sent, while the outbox still holds it. */
const begin = async (
  { store, clock, retry: { holdMs } }: Delivering,
  { limits }: Channel,
  { lead, candidates, group }: Beginning,
): Promise<Begun> => {
  const { channel, target, notice } = lead.notification
  let begun: Begun = { state: 'gone' }
  const all = [lead, ...candidates]
  const keys = {
    one: { key: paceKey(channel, target), schema: Pace },
    many: { keys: all.map(keyOf), schema: DeliveryRecord },
  }
  const isWritten = await store.updateTogether(keys, (stored, records) => {
    const nowMs = clock.now()
    const pace = stored && followedPace(stored, clock)
    const opened = new Map(all.map((item) => [item, lookAt(item.notification, records.get(keyOf(item)))]))
    const first = opened.get(lead)
    if (!first) throw new Error('the lead is one of all')
    if (isLost(lead.notification, records)) {
      begun = { state: 'gone' }
      return undefined
    }
    if (first.standing !== 'send' && !(pace && isHeld(pace, notice.episode, nowMs))) {
      begun = withoutSend(first.standing, first.attempts)
      return undefined
    }
    const sendable = candidates.filter(
      (item) => opened.get(item)?.standing === 'send' && !isLost(item.notification, records),
    )
    const byEpisode = new Map(sendable.map((item) => [noticeOf(item).episode, item]))
    byEpisode.delete(notice.episode)
    const entering = { episodes: [notice.episode, ...byEpisode.keys()] as const, group, isUrgent: isUrgent(notice) }
    const { entry, pace: after, isChanged } = enter(pace, { ...entering, nowMs, holdMs }, limits)
    if (!entry.entered) {
      begun = { state: 'waits', entry }
      return isChanged ? { one: after, many: new Map() } : undefined
    }
    const taken = [lead, ...entry.episodes.slice(1).flatMap((episode) => byEpisode.get(episode) ?? [])]
    begun = { state: 'begun', taken, attempts: new Map(taken.map((item) => [item, opened.get(item)?.attempts ?? 0])) }
    const many = taken.flatMap((item) => {
      const looked = opened.get(item)
      return looked ? [[keyOf(item), looked.begun] as const] : []
    })
    const needs = [...new Set(taken.map(messageIdOf))]
    return { one: after, many: new Map(many), expiresInMs: recordMs, needs }
  })
  return isWritten ? keptRecords(begun) : { state: 'gone' }
}

/** From now on a record that is not in the store is lost. */
const keptRecords = (begun: Begun): Begun => {
  if (begun.state === 'begun') for (const { notification } of begun.taken) notification.kept.isRecord = true
  return begun
}

const keyOf = ({ notification }: Waiting): string => recordKey(notification.notice.episode)
const messageIdOf = ({ notification }: Waiting): string => notification.message.id

interface Looked {
  standing: Standing
  attempts: number
  /** The record once the send has begun. */
  begun: DeliveryRecord
}

/** What is to be done with a notification, where nobody is sending it. */
const lookAt = (notification: Notification, before: DeliveryRecord | undefined): Looked => {
  const { notice, opening } = notification
  const key = targetKey(notification)
  const record = cutOff(open(before, notice, opening), key)
  const known = record.recipients[key]
  return {
    standing: standingOf(record, key, notice),
    attempts: known?.sequence === notice.sequence ? known.attempts : 0,
    begun: beginSend(record, key, notice),
  }
}

const withoutSend = (standing: Exclude<Standing, 'send'>, attempts: number): Begun => {
  if (standing === 'wait') return { state: 'waits', entry: { waitsFor: 'episode', againInMs: digestAgainMs } }
  if (standing === 'sent') return { state: 'ended', end: { result: 'sent', reason: null, attempts: attempts + 1 } }
  const { end: result, reason } = standing
  return { state: 'ended', end: { result, reason, attempts: result === 'dead' ? attempts : 0 } }
}
