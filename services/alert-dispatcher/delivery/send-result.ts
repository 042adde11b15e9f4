import { setTimeout as wait } from 'node:timers/promises'
import { computeAgeMs } from '#shared/time/clock.ts'
import type { CompletedDelivery } from '#proto/delivery.ts'
import type { Channel, SendResult } from '../channels/channel.ts'
import type { NotificationTarget } from '../channels/targets.ts'
import { toOutboxMessage, getDeliveryId } from '../notification.ts'
import { buildMisconfiguredTargetNotification } from './misconfigured-notification.ts'
import { openDeadLetters } from './dead-letters.ts'
import type { DeliveryDeps, DeliveryResult, PendingDelivery } from './delivery-deps.ts'
import type { ClaimedMessages } from './claims.ts'
import { TargetRateLimit, adjustRateLimit, releaseSend, getRateLimitKey } from './rate-limit.ts'
import {
  DeliveryRecord,
  recordSendEnd,
  endDigest,
  markUndelivered,
  addPendingDeliveries,
  getDeliveryRecordKey,
  deliveryRecordTtlMs,
  decideNextStep,
  getTargetKey,
  withdrawSend,
} from './delivery-record.ts'
import { getTargetPauseMs, getRetryDelayMs } from './retry.ts'
import type { DeliveryBatchResult, QueuedDelivery } from './target-queue.ts'

/** One send, for one or several notifications. */
export interface SendInProgress {
  channel: Channel
  target: NotificationTarget
  lifeMs: number
  /** The notifications in the message, the lead first. */
  items: readonly QueuedDelivery[]
  /** The notifications that were reserved for this send. */
  reserved: readonly QueuedDelivery[]
  /** Earlier failures per notification. */
  attempts: ReadonlyMap<QueuedDelivery, number>
}

/**
 * Records the result of a send. One write to the store updates the rate limit of the target, the delivery records and
 * the outbox.
 */
export const recordSendResult = async (
  deps: DeliveryDeps,
  claims: ClaimedMessages,
  send: SendInProgress,
  result: SendResult,
): Promise<DeliveryBatchResult> => {
  const { channel, target, items, reserved, attempts } = send
  const isGroup = items.length > 1
  const requestedMs = result.kind === 'retry' ? result.afterMs : undefined
  // A rejected group does not mean that its notifications are rejected; they are sent one by one.
  const isGroupRefused = isGroup && result.kind === 'permanent'
  const ends = isGroupRefused ? new Map<QueuedDelivery, DeliveryResult>() : computeEnds(deps, send, result)
  const { acks, finish } = await recordDeliveries(
    deps,
    claims,
    [...ends].map(([{ delivery }, end]) => [delivery, end]),
  )
  const rest = (count: number) => getTargetPauseMs(deps.retry, count, requestedMs, Math.random())
  const restsMs = await retryPatiently(() => writeResult(deps, send, { result, ends, isGroupRefused, acks, rest }))
  await finish()
  if (isGroup)
    deps.log.info(
      { channel: channel.id, target: target.id, notifications: items.length, result: result.kind },
      'notifications grouped',
    )
  if (result.kind !== 'ok') {
    const facts = {
      channel: channel.id,
      target: target.id,
      notifications: items.length,
      result: result.kind,
      reason: result.reason,
    }
    const [lead] = items
    deps.log.warn({ ...facts, failures: (lead ? (attempts.get(lead) ?? 0) : 0) + 1 }, 'notification failed')
  }
  const own = (item: QueuedDelivery) =>
    getRetryDelayMs(deps.retry, (attempts.get(item) ?? 0) + 1, requestedMs, Math.random())
  const again = isGroupRefused ? [] : reserved.filter((item) => items.includes(item) && !ends.has(item))
  return {
    ended: new Set(ends.keys()),
    againInMs: new Map(again.map((item) => [item, own(item)])),
    ...(restsMs > 0 && !isGroupRefused && { waits: { for: 'rest', againInMs: restsMs } }),
    isGroupRefused,
  }
}

const computeEnds = (
  deps: DeliveryDeps,
  send: SendInProgress,
  result: SendResult,
): Map<QueuedDelivery, DeliveryResult> => {
  const { items, attempts } = send
  const others = items.length - 1
  const reason =
    others > 0 ? `sent in one message with ${others} other ${others === 1 ? 'notification' : 'notifications'}` : null
  return new Map(
    items.flatMap((item): (readonly [QueuedDelivery, DeliveryResult])[] => {
      const made = (attempts.get(item) ?? 0) + 1
      if (result.kind === 'ok') return [[item, { result: 'sent', reason, attempts: made }]]
      const isOver = isFinal(result, send, item.delivery) || isTooLate(deps, send, item.delivery, made)
      return isOver ? [[item, { result: 'dead', reason: result.reason, attempts: made }]] : []
    }),
  )
}

/**
 * Returns whether retries are pointless. On a configuration error, critical and paging notifications are retried for
 * their whole lifetime, because an operator may fix the target.
 */
const isFinal = ({ kind }: SendResult, { channel }: SendInProgress, { notification }: PendingDelivery): boolean =>
  kind === 'permanent' || (kind === 'config' && !channel.isPaging && notification.severity !== 'critical')

/** Returns whether the lifetime ends before the next retry, without jitter. */
const isTooLate = (
  { retry, clock }: DeliveryDeps,
  { lifeMs }: SendInProgress,
  { sinceMs }: PendingDelivery,
  failures: number,
) => computeAgeMs(clock, sinceMs) + getRetryDelayMs(retry, failures, undefined, 0.5) >= lifeMs

interface SendOutcome {
  result: SendResult
  ends: ReadonlyMap<QueuedDelivery, DeliveryResult>
  isGroupRefused: boolean
  acks: readonly string[]
  rest(failures: number): number
}

/** Returns, for each episode in an ended digest, the key of its record and whether the digest was sent. */
const listDigestRecords = (ends: SendOutcome['ends']) =>
  [...ends].flatMap(([{ delivery }, { result }]) =>
    listDigestEpisodes(delivery).map((episode) => [getDeliveryRecordKey(episode), result === 'sent'] as const),
  )

/** Writes the result of a send. Returns how long the target pauses, in milliseconds. */
const writeResult = async (
  { store, clock }: DeliveryDeps,
  { channel: { id: channel }, target: { id: target, own }, items, reserved }: SendInProgress,
  { result, ends, isGroupRefused, acks, rest }: SendOutcome,
): Promise<number> => {
  const key = getTargetKey({ channel, target })
  const gathered = listDigestRecords(ends)
  const episodes = reserved.map(({ delivery }) => delivery.notification.episode)
  const names = [...episodes.map(getDeliveryRecordKey), ...gathered.map(([name]) => name)]
  let restsUntilMs = 0
  await store.updateTogether(
    {
      one: { key: getRateLimitKey(channel, target), schema: TargetRateLimit },
      many: { keys: names, schema: DeliveryRecord },
    },
    (stored, records) => {
      const nowMs = clock.now()
      const left = releaseSend(stored && adjustRateLimit(stored, clock), { episodes, nowMs, result, restMs: rest })
      // Registers the new timestamps, so that they are adjusted if the clock is set later.
      const rateLimit = adjustRateLimit(left, clock)
      restsUntilMs = rateLimit.restsUntilMs
      const many = new Map<string, DeliveryRecord>()
      for (const item of reserved) {
        const { notification, opening } = item.delivery
        const name = getDeliveryRecordKey(notification.episode)
        // A lost record is not recreated in part; the database has the recipients.
        if (isRecordLost(item.delivery, records)) continue
        const record = addPendingDeliveries(many.get(name) ?? records.get(name), notification, opening)
        const wasSent = items.includes(item) && !isGroupRefused
        const sent = () => recordSendEnd(record, key, notification, { result, isOver: ends.has(item) })
        many.set(name, wasSent ? sent() : withdrawSend(record, key, notification))
      }
      for (const [name, isDelivered] of gathered) {
        const record = many.get(name) ?? records.get(name)
        if (record) many.set(name, endDigest(record, key, isDelivered))
      }
      // Misconfigured targets of users are not reported, because operators receive the report and cannot fix them.
      const broken = own
        ? undefined
        : buildMisconfiguredTargetNotification({ channel, target }, stored?.broken ?? null, rateLimit.broken, nowMs)
      return {
        one: rateLimit,
        many,
        expiresInMs: deliveryRecordTtlMs,
        acks,
        outbox: broken ? [toOutboxMessage(broken)] : [],
      }
    },
  )
  return Math.max(0, -computeAgeMs(clock, restsUntilMs))
}

/** Returns the episodes that a digest reports as open. */
const listDigestEpisodes = ({ notification: { gathered } }: PendingDelivery): string[] =>
  gathered.flatMap(({ episode, recovered }) => (recovered ? [] : [episode]))

/** The result of deliveries to a target that no longer exists. */
export const missingTargetResult = {
  result: 'dropped',
  reason: 'its target is disabled or was deleted',
  attempts: 0,
} as const

/** Ends a delivery without a send. Returns whether it ended; false means that it must be sent after all. */
export const endWithoutSend = async (
  deps: DeliveryDeps,
  claims: ClaimedMessages,
  delivery: PendingDelivery,
  ended: DeliveryResult,
): Promise<boolean> => {
  const { store } = deps
  const { notification, opening, message } = delivery
  const key = getTargetKey(delivery)
  const name = getDeliveryRecordKey(notification.episode)
  const gathered = listDigestEpisodes(delivery).map(getDeliveryRecordKey)
  const { acks, finish } = await recordDeliveries(deps, claims, [[delivery, ended]])
  let hasEnded = true
  const isWritten = await store.updateTogether(
    { many: { keys: [name, ...gathered], schema: DeliveryRecord } },
    (_one, records) => {
      if (isRecordLost(delivery, records)) return undefined
      const record = addPendingDeliveries(records.get(name), notification, opening)
      hasEnded = ended.result !== 'dropped' || ended.reason === null || shouldStillDrop(record, key, delivery, ended)
      if (!hasEnded) return undefined
      const many = new Map([
        [name, ended.result === 'sent' ? record : markUndelivered(record, key, notification, toEndState(ended))],
      ])
      for (const each of gathered) {
        const known = many.get(each) ?? records.get(each)
        if (known) many.set(each, endDigest(known, key, ended.result === 'sent'))
      }
      return { many, expiresInMs: deliveryRecordTtlMs, acks, needs: [message.id] }
    },
  )
  if (!hasEnded) return false
  if (isWritten) await finish()
  else claims.forget([message])
  return true
}

/** Returns whether the store lost the delivery record that contained the notification. */
export const isRecordLost = (
  { notification: { episode }, recordState }: PendingDelivery,
  records: ReadonlyMap<string, DeliveryRecord | undefined>,
): boolean => recordState.isStored && records.get(getDeliveryRecordKey(episode)) === undefined

const toEndState = ({ result, reason }: DeliveryResult) => ({
  state: result === 'dead' ? ('dead' as const) : ('dropped' as const),
  reason,
})

/** Returns whether the notification may still be dropped: its target is gone, or its record requires no send. */
const shouldStillDrop = (
  record: DeliveryRecord,
  key: string,
  { notification }: PendingDelivery,
  { reason }: DeliveryResult,
): boolean => decideNextStep(record, key, notification) !== 'send' || reason === missingTargetResult.reason

interface RecordResult {
  /** Ids of the messages without other open deliveries; empty if the results could not be recorded yet. */
  acks: readonly string[]
  /** Releases the deliveries after the store was updated, or schedules another attempt to record them. */
  finish(): Promise<void>
}

/**
 * Records results in the database before the store, so that every result in the store is recorded. If the database is
 * unavailable, the message stays in the outbox and recording is retried.
 */
const recordDeliveries = async (
  { store, clock }: DeliveryDeps,
  claims: ClaimedMessages,
  ends: readonly (readonly [PendingDelivery, DeliveryResult])[],
): Promise<RecordResult> => {
  if (ends.length === 0) return { acks: [], finish: async () => {} }
  const letters = openDeadLetters(store)
  const dead = ends.flatMap(([{ notification, channel, target }, { result, reason }]) =>
    result === 'dead' ? [{ addressed: { notification, channel, target }, reason: reason ?? 'not delivered' }] : [],
  )
  await retryPatiently(() => letters.put(dead, clock.now()))
  const rows = ends.map(([delivery, ended]) => toCompletedDelivery(delivery, ended, clock.now()))
  const notifications = ends.map(([delivery]) => delivery)
  if (!(await claims.record(rows))) return { acks: [], finish: () => claims.recordLater(notifications, rows) }
  const acks = claims.endingWith(notifications)
  return { acks, finish: () => claims.ended(notifications, acks) }
}

const toCompletedDelivery = (
  { notification, channel, target }: PendingDelivery,
  ended: DeliveryResult,
  atMs: number,
): CompletedDelivery => {
  const { episode, sequence, kind, ruleId, hostKey, severity } = notification
  const id = getDeliveryId({ notification, channel, target })
  return { id, atMs, episode, sequence, kind, ruleId, hostKey, severity, channel, target, ...ended }
}

const maxRetryMs = 10_000
const retryIntervalMs = 200

/** Retries `work` for ten seconds, then throws. A result lost in a short store outage would cause a second send. */
const retryPatiently = async <T>(work: () => Promise<T>): Promise<T> => {
  const until = performance.now() + maxRetryMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (performance.now() > until) throw error
      await wait(retryIntervalMs)
    }
  }
}
