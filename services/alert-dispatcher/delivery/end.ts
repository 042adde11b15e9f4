import { setTimeout as wait } from 'node:timers/promises'
import { ageMs } from '#shared/time/clock.ts'
import type { Delivered } from '#proto/delivery.ts'
import type { Channel, SendResult } from '../channels/channel.ts'
import type { Target } from '../channels/targets.ts'
import { asMessage, deliveryIdOf } from '../notice.ts'
import { brokenNotice } from './broken.ts'
import { openDeadLetters } from './dead-letters.ts'
import type { Delivering, Ended, Notification } from './delivering.ts'
import type { Hand } from './hand.ts'
import { Pace, followedPace, leave, paceKey } from './pace.ts'
import {
  DeliveryRecord,
  end,
  endDigest,
  giveUp,
  open,
  recordKey,
  recordMs,
  standingOf,
  targetKey,
  withdrawSend,
} from './record.ts'
import { restMs, waitMs } from './retry.ts'
import type { Served, Waiting } from './target-queue.ts'

/** A message that was sent. */
export interface Sending {
  channel: Channel
  target: Target
  lifeMs: number
  /** What the message was about, the lead first. */
  items: readonly Waiting[]
  /** What the right to send was taken for. */
  begun: readonly Waiting[]
  /** How often each had failed before. */
  attempts: ReadonlyMap<Waiting, number>
}

/** Writes down how a send went: the pace of its target, the records, and the end of messages of the outbox, in one write. */
export const endAfterSend = async (
  delivering: Delivering,
  hand: Hand,
  sending: Sending,
  result: SendResult,
): Promise<Served> => {
  const { channel, target, items, begun, attempts } = sending
  const isGroup = items.length > 1
  const askedMs = result.kind === 'retry' ? result.afterMs : undefined
  // What the target says of the group it may not say of its notices, which are sent one by one.
  const isGroupRefused = isGroup && result.kind === 'permanent'
  const ends = isGroupRefused ? new Map<Waiting, Ended>() : endsOf(delivering, sending, result)
  const { acks, finish } = await record(
    delivering,
    hand,
    [...ends].map(([{ notification }, end]) => [notification, end]),
  )
  const rest = (count: number) => restMs(delivering.retry, count, askedMs, Math.random())
  const restsMs = await patiently(() => write(delivering, sending, { result, ends, isGroupRefused, acks, rest }))
  await finish()
  if (isGroup)
    delivering.log.info(
      { channel: channel.id, target: target.id, notices: items.length, result: result.kind },
      'notifications grouped',
    )
  if (result.kind !== 'ok') {
    const facts = {
      channel: channel.id,
      target: target.id,
      notices: items.length,
      result: result.kind,
      reason: result.reason,
    }
    const [lead] = items
    delivering.log.warn({ ...facts, failures: (lead ? (attempts.get(lead) ?? 0) : 0) + 1 }, 'notification failed')
  }
  const own = (item: Waiting) => waitMs(delivering.retry, (attempts.get(item) ?? 0) + 1, askedMs, Math.random())
  const again = isGroupRefused ? [] : begun.filter((item) => items.includes(item) && !ends.has(item))
  return {
    ended: new Set(ends.keys()),
    againInMs: new Map(again.map((item) => [item, own(item)])),
    ...(restsMs > 0 && !isGroupRefused && { waits: { for: 'rest', againInMs: restsMs } }),
    isGroupRefused,
  }
}

const endsOf = (delivering: Delivering, sending: Sending, result: SendResult): Map<Waiting, Ended> => {
  const { items, attempts } = sending
  const others = items.length - 1
  const reason = others > 0 ? `sent in one message with ${others} ${others === 1 ? 'other' : 'others'}` : null
  return new Map(
    items.flatMap((item): (readonly [Waiting, Ended])[] => {
      const made = (attempts.get(item) ?? 0) + 1
      if (result.kind === 'ok') return [[item, { result: 'sent', reason, attempts: made }]]
      const isOver =
        isFinal(result, sending, item.notification) || isTooLate(delivering, sending, item.notification, made)
      return isOver ? [[item, { result: 'dead', reason: result.reason, attempts: made }]] : []
    }),
  )
}

/** Whether no later try could help. A page is tried as long as it lives: an operator may repair its target, which the others report. */
const isFinal = ({ kind }: SendResult, { channel }: Sending, { notice }: Notification): boolean =>
  kind === 'permanent' || (kind === 'config' && !channel.isPaging && notice.severity !== 'critical')

/** Whether its life is over before it is tried again, however little that varies. */
const isTooLate = ({ retry, clock }: Delivering, { lifeMs }: Sending, { sinceMs }: Notification, failures: number) =>
  ageMs(clock, sinceMs) + waitMs(retry, failures, undefined, 0.5) >= lifeMs

interface Writing {
  result: SendResult
  ends: ReadonlyMap<Waiting, Ended>
  isGroupRefused: boolean
  acks: readonly string[]
  rest(failures: number): number
}

/** Returns how long the target rests. */
const write = async (
  { store, clock }: Delivering,
  { channel: { id: channel }, target: { id: target, own }, items, begun }: Sending,
  { result, ends, isGroupRefused, acks, rest }: Writing,
): Promise<number> => {
  const key = targetKey({ channel, target })
  const gathered = [...ends].flatMap(([item, { result: how }]) =>
    gatheredBy(item.notification).map((episode) => [recordKey(episode), how === 'sent'] as const),
  )
  const names = [
    ...begun.map(({ notification }) => recordKey(notification.notice.episode)),
    ...gathered.map(([name]) => name),
  ]
  let restsUntilMs = 0
  await store.updateTogether(
    { one: { key: paceKey(channel, target), schema: Pace }, many: { keys: names, schema: DeliveryRecord } },
    (stored, records) => {
      const nowMs = clock.now()
      const episodes = begun.map(({ notification }) => notification.notice.episode)
      const left = leave(stored && followedPace(stored, clock), { episodes, nowMs, result, restMs: rest })
      // Followed from here on: the clock may be set before anybody looks.
      const pace = followedPace(left, clock)
      restsUntilMs = pace.restsUntilMs
      const many = new Map<string, DeliveryRecord>()
      for (const item of begun) {
        const { notice, opening } = item.notification
        const name = recordKey(notice.episode)
        // A store that has lost the record gets no half of it back: who was told is on record in the database.
        if (isLost(item.notification, records)) continue
        const record = open(many.get(name) ?? records.get(name), notice, opening)
        const wasSent = items.includes(item) && !isGroupRefused
        many.set(
          name,
          wasSent ? end(record, key, notice, { result, isOver: ends.has(item) }) : withdrawSend(record, key, notice),
        )
      }
      for (const [name, isTold] of gathered) {
        const record = many.get(name) ?? records.get(name)
        if (record) many.set(name, endDigest(record, key, isTold))
      }
      // The others are the operator's, who cannot repair a target that a person added.
      const broken = own ? undefined : brokenNotice({ channel, target }, stored?.broken ?? null, pace.broken, nowMs)
      return { one: pace, many, expiresInMs: recordMs, acks, outbox: broken ? [asMessage(broken)] : [] }
    },
  )
  return Math.max(0, -ageMs(clock, restsUntilMs))
}

/** Episodes that a digest tells as open. */
const gatheredBy = ({ notice: { gathered } }: Notification): string[] =>
  gathered.flatMap(({ episode, recovered }) => (recovered ? [] : [episode]))

/** The end of what was meant for a target that there is no more. */
export const targetIsGone = { result: 'dropped', reason: 'its target is switched off or gone', attempts: 0 } as const

/** Ends a notification without a send; false when it is to be sent after all. */
export const endWithout = async (
  delivering: Delivering,
  hand: Hand,
  notification: Notification,
  ended: Ended,
): Promise<boolean> => {
  const { store } = delivering
  const { notice, opening, message } = notification
  const key = targetKey(notification)
  const name = recordKey(notice.episode)
  const gathered = gatheredBy(notification).map(recordKey)
  const { acks, finish } = await record(delivering, hand, [[notification, ended]])
  let hasEnded = true
  const isWritten = await store.updateTogether(
    { many: { keys: [name, ...gathered], schema: DeliveryRecord } },
    (_one, records) => {
      if (isLost(notification, records)) return undefined
      const record = open(records.get(name), notice, opening)
      hasEnded = ended.result !== 'dropped' || ended.reason === null || stillDrops(record, key, notification, ended)
      if (!hasEnded) return undefined
      const many = new Map([[name, ended.result === 'sent' ? record : giveUp(record, key, notice, endOf(ended))]])
      for (const each of gathered) {
        const known = many.get(each) ?? records.get(each)
        if (known) many.set(each, endDigest(known, key, ended.result === 'sent'))
      }
      return { many, expiresInMs: recordMs, acks, needs: [message.id] }
    },
  )
  if (!hasEnded) return false
  if (isWritten) await finish()
  else hand.forget([message])
  return true
}

/** Whether the store has lost the record that a notification was opened by. */
export const isLost = (
  { notice: { episode }, kept }: Notification,
  records: ReadonlyMap<string, DeliveryRecord | undefined>,
): boolean => kept.isRecord && records.get(recordKey(episode)) === undefined

const endOf = ({ result, reason }: Ended) => ({
  state: result === 'dead' ? ('dead' as const) : ('dropped' as const),
  reason,
})

/** A recovery that no fire has preceded is to be sent when one began meanwhile. */
const stillDrops = (record: DeliveryRecord, key: string, { notice }: Notification, { reason }: Ended): boolean =>
  standingOf(record, key, notice) !== 'send' || reason === targetIsGone.reason

interface Recorded {
  /** Ids of messages that end with these notifications; none while their record has to wait. */
  acks: readonly string[]
  /** Lets go of the notifications once their ends are in the store, or has their record tried again. */
  finish(): Promise<void>
}

/**
 * Puts ends on record before the store knows them, so that what the store says has ended is on record. That is waited for shortly: while the
 * database is away, the message stays in the outbox, and the record is made later.
 */
const record = async (
  { store, clock }: Delivering,
  hand: Hand,
  ends: readonly (readonly [Notification, Ended])[],
): Promise<Recorded> => {
  if (ends.length === 0) return { acks: [], finish: async () => {} }
  const letters = openDeadLetters(store)
  const dead = ends.flatMap(([{ notice, channel, target }, { result, reason }]) =>
    result === 'dead' ? [{ addressed: { notice, channel, target }, reason: reason ?? 'not delivered' }] : [],
  )
  await patiently(() => letters.put(dead, clock.now()))
  const rows = ends.map(([notification, ended]) => rowOf(notification, ended, clock.now()))
  const notifications = ends.map(([notification]) => notification)
  if (!(await hand.record(rows))) return { acks: [], finish: () => hand.recordLater(notifications, rows) }
  const acks = hand.endingWith(notifications)
  return { acks, finish: () => hand.ended(notifications, acks) }
}

const rowOf = ({ notice, channel, target }: Notification, ended: Ended, atMs: number): Delivered => {
  const { episode, sequence, kind, ruleId, hostKey, severity } = notice
  const id = deliveryIdOf({ notice, channel, target })
  return { id, atMs, episode, sequence, kind, ruleId, hostKey, severity, channel, target, ...ended }
}

const patienceMs = 10_000
const patienceEveryMs = 200

/** What a send did must not be forgotten because the store is unavailable for a moment: it would be sent again. */
const patiently = async <T>(work: () => Promise<T>): Promise<T> => {
  const until = performance.now() + patienceMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (performance.now() > until) throw error
      await wait(patienceEveryMs)
    }
  }
}
