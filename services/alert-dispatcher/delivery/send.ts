import { computeAgeMs, adjustForClockJumps } from '#shared/time/clock.ts'
import type { Channel } from '../channels/channel.ts'
import type { Notification } from '../notification.ts'
import { renderGroupMessage } from '../messages/group-message.ts'
import { readMessageSettings } from '../messages/message-settings.ts'
import { type Message, renderMessage } from '../messages/message.ts'
import { type DeliveryDeps, type PendingDelivery, storePendingDeliveries } from './delivery-deps.ts'
import {
  type SendInProgress,
  recordSendResult,
  endWithoutSend,
  isRecordLost,
  missingTargetResult,
} from './send-result.ts'
import type { ClaimedMessages } from './claims.ts'
import {
  type SendPermit,
  TargetRateLimit,
  reserveSend,
  adjustRateLimit,
  isSendInProgress,
  getRateLimitKey,
} from './rate-limit.ts'
import { isUrgent } from './priority.ts'
import {
  DeliveryRecord,
  type NextStep,
  markSending as beginSend,
  markInterrupted,
  addPendingDeliveries,
  getDeliveryRecordKey,
  deliveryRecordTtlMs,
  decideNextStep,
  getTargetKey,
} from './delivery-record.ts'
import {
  type DeliveryBatch,
  type DeliveryBatchResult,
  type TargetQueue,
  type QueuedDelivery,
  openTargetQueues,
} from './target-queue.ts'

/** Interval at which a recovery checks whether the digest with its alert was delivered. */
const digestCheckIntervalMs = 2_000

/** Opens delivery for one channel. Each delivery stays in the queue of its target until it has ended. */
export const openChannelDelivery = (
  deps: DeliveryDeps,
  claims: ClaimedMessages,
  channel: Channel,
): Omit<TargetQueue, 'size'> => {
  const { clock, log } = deps
  const isOver = ({ sinceMs }: PendingDelivery) => computeAgeMs(clock, sinceMs) >= getLifetimeMs(deps, channel)
  const leave = async (delivery: PendingDelivery, why: 'no-room' | 'over') => {
    if (why === 'over') return void (await endExpiredDelivery(deps, claims, channel, delivery))
    const { notification, opening, recordState } = delivery
    // The stored record starts the lifetime, which counts from when the delivery was first queued.
    if (!recordState.isStored) await storePendingDeliveries(deps.store, notification, { opening, isStored: false })
    recordState.isStored = true
    await claims.postpone(delivery)
  }
  return openTargetQueues({
    limits: channel.limits,
    serve: (batch) => sendBatch(deps, claims, channel, batch),
    nowMs: () => clock.now(),
    sinceMs: ({ sinceMs }) => adjustForClockJumps(clock, sinceMs),
    isOver,
    leave: (delivery, why) =>
      // After a failure the claim expires, and another process retries.
      void leave(delivery, why).catch((error: unknown) => {
        claims.forget([delivery.message])
        log.warn({ err: error }, 'completing notification failed; it will be retried')
      }),
    failed: (error) => log.warn({ err: error, channel: channel.id }, 'sending notification failed; it will be retried'),
  })
}

const getLifetimeMs = ({ retry: { lifeMs } }: DeliveryDeps, { isPaging }: Channel): number =>
  isPaging ? lifeMs.paging : lifeMs.others

/** Ends a delivery whose lifetime is over. */
const endExpiredDelivery = async (
  deps: DeliveryDeps,
  claims: ClaimedMessages,
  { id: channel }: Channel,
  delivery: PendingDelivery,
): Promise<boolean> => {
  const rateLimit = await deps.store.get(getRateLimitKey(channel, delivery.target), TargetRateLimit)
  const last = rateLimit?.last?.reason
  const reason = last ? `not delivered in time: ${last}` : 'not delivered in time'
  return endWithoutSend(deps, claims, delivery, { result: 'dead', reason, attempts: 0 })
}

/** Sends the lead of a batch, grouped with others if needed. */
const sendBatch = async (
  deps: DeliveryDeps,
  claims: ClaimedMessages,
  channel: Channel,
  batch: DeliveryBatch,
): Promise<DeliveryBatchResult> => {
  const { lead } = batch
  const { delivery } = lead
  // The message has been claimed again, and the new claim delivers it.
  if (!claims.isHeld(delivery.message)) return { ended: new Set([lead]) }
  const endLead = async (hasEnded: Promise<boolean>): Promise<DeliveryBatchResult> => ({
    ended: new Set((await hasEnded) ? [lead] : []),
  })
  const policy = await deps.policy()
  const target = deps.targets(policy).find((each) => each.channel === channel.id && each.id === delivery.target)
  if (!target) return endLead(endWithoutSend(deps, claims, delivery, missingTargetResult))
  const lifeMs = getLifetimeMs(deps, channel)
  const isOver = ({ sinceMs }: PendingDelivery) => computeAgeMs(deps.clock, sinceMs) >= lifeMs
  if (isOver(delivery)) return endLead(endExpiredDelivery(deps, claims, channel, delivery))
  const isAlone = batch.group === undefined || target.needsOwnMessage?.(delivery.notification) === true
  const candidates = isAlone
    ? []
    : batch.others.filter((other) => claims.isHeld(other.delivery.message) && !isOver(other.delivery))
  // Loaded before the send is reserved, so that nothing else delays the send afterwards.
  const renderer = await createRenderer(deps, delivery.notification)
  // The most likely message is rendered while the store responds.
  const [start, message] = await Promise.all([
    reserveBatch(deps, channel, { lead, candidates, group: isAlone ? undefined : batch.group }),
    renderer.one(delivery.notification),
  ])
  if (start.state === 'gone') {
    await forgetGoneMessages(deps, claims, [lead, ...candidates])
    return { ended: new Set(claims.isHeld(delivery.message) ? [] : [lead]) }
  }
  if (start.state === 'ended') return endLead(endWithoutSend(deps, claims, delivery, start.end))
  if (start.state === 'waits') return toWaitResult(lead, start.entry)
  const others = batch.claim(new Set(start.taken.slice(1)))
  const send: SendInProgress = {
    channel,
    target,
    lifeMs,
    items: [lead, ...others],
    reserved: start.taken,
    attempts: start.attempts,
  }
  const began = performance.now()
  const words = others.length === 0 ? message : renderer.group([delivery.notification, ...others.map(getNotification)])
  const result = await target.send(words, deps.net)
  deps.observe(channel.id, result.kind, (performance.now() - began) / 1_000)
  return recordSendResult(deps, claims, send, result)
}

const getNotification = ({ delivery }: QueuedDelivery): Notification => delivery.notification

const toWaitResult = (
  lead: QueuedDelivery,
  { waitsFor, againInMs }: Extract<SendPermit, { entered: false }> | DigestWait,
): DeliveryBatchResult =>
  waitsFor === 'episode'
    ? { ended: new Set(), againInMs: new Map([[lead, againInMs]]) }
    : { ended: new Set(), waits: { for: waitsFor, againInMs } }

interface DigestWait {
  waitsFor: 'episode'
  againInMs: number
}

/**
 * Drops messages that are no longer in the outbox: another process ended them, or the store lost them. If only the
 * record is lost, the message is claimed again and its recipients are determined again.
 */
const forgetGoneMessages = async (
  { store, log }: DeliveryDeps,
  claims: ClaimedMessages,
  items: readonly QueuedDelivery[],
): Promise<void> => {
  const messages = new Set(items.map(({ delivery }) => delivery.message))
  const [held, records] = await Promise.all([
    store.outbox.holds([...messages].map(({ id }) => id)),
    store.getAll(items.map(getRecordKey), DeliveryRecord),
  ])
  const stored = new Map(items.map((item, index) => [getRecordKey(item), records[index]]))
  const lost = new Set(items.filter(({ delivery }) => isRecordLost(delivery, stored)).map(getMessageId))
  const gone = [...messages].filter(({ id }) => !held.has(id) || lost.has(id))
  claims.forget(gone)
  log.info({ messages: gone.length }, 'notifications removed from the outbox; not sent')
}

interface MessageRenderer {
  one(notification: Notification): Message
  group(notifications: readonly [Notification, ...Notification[]]): Message
}

const createRenderer = async (
  { env, origin, hosts, recentChanges }: DeliveryDeps,
  lead: Notification,
): Promise<MessageRenderer> => {
  const [by, listed, changes] = await Promise.all([origin(), hosts(), recentChanges(lead)])
  const frame = { ...readMessageSettings(env), origin: by, changes }
  return {
    one: (notification) => renderMessage(notification, frame, listed),
    group: (notifications) => renderGroupMessage(notifications, frame, listed),
  }
}

interface SendRequest {
  lead: QueuedDelivery
  candidates: readonly QueuedDelivery[]
  group: DeliveryBatch['group']
}

type SendStart =
  | { state: 'reserved'; taken: readonly QueuedDelivery[]; attempts: ReadonlyMap<QueuedDelivery, number> }
  | { state: 'waits'; entry: Extract<SendPermit, { entered: false }> | DigestWait }
  | { state: 'ended'; end: Parameters<typeof endWithoutSend>[3] }
  | { state: 'gone' }

/** Reserves the send and updates the records in one write, if the outbox still holds the message. */
const reserveBatch = async (
  { store, clock, retry: { holdMs } }: DeliveryDeps,
  { limits }: Channel,
  { lead, candidates, group }: SendRequest,
): Promise<SendStart> => {
  const { channel, target, notification } = lead.delivery
  let start: SendStart = { state: 'gone' }
  const all = [lead, ...candidates]
  const keys = {
    one: { key: getRateLimitKey(channel, target), schema: TargetRateLimit },
    many: { keys: all.map(getRecordKey), schema: DeliveryRecord },
  }
  const isWritten = await store.updateTogether(keys, (stored, records) => {
    const nowMs = clock.now()
    const rateLimit = stored && adjustRateLimit(stored, clock)
    const opened = new Map(all.map((item) => [item, computeStep(item.delivery, records.get(getRecordKey(item)))]))
    const first = opened.get(lead)
    if (!first) throw new Error('expected the lead among the deliveries')
    if (isRecordLost(lead.delivery, records)) {
      start = { state: 'gone' }
      return undefined
    }
    if (first.nextStep !== 'send' && !(rateLimit && isSendInProgress(rateLimit, notification.episode, nowMs))) {
      start = toStartWithoutSend(first.nextStep, first.attempts)
      return undefined
    }
    const isSendable = (item: QueuedDelivery) =>
      opened.get(item)?.nextStep === 'send' && !isRecordLost(item.delivery, records)
    const byEpisode = new Map(candidates.filter(isSendable).map((item) => [getNotification(item).episode, item]))
    byEpisode.delete(notification.episode)
    const episodes = [notification.episode, ...byEpisode.keys()] as const
    const request = { episodes, group, isUrgent: isUrgent(notification) }
    const { entry, rateLimit: after, isChanged } = reserveSend(rateLimit, { ...request, nowMs, holdMs }, limits)
    if (!entry.entered) {
      start = { state: 'waits', entry }
      return isChanged ? { one: after, many: new Map() } : undefined
    }
    const taken = [lead, ...entry.episodes.slice(1).flatMap((episode) => byEpisode.get(episode) ?? [])]
    const attempts = new Map(taken.map((item) => [item, opened.get(item)?.attempts ?? 0]))
    start = { state: 'reserved', taken, attempts }
    const many = taken.flatMap((item) => {
      const step = opened.get(item)
      return step ? [[getRecordKey(item), step.reserved] as const] : []
    })
    const needs = [...new Set(taken.map(getMessageId))]
    return { one: after, many: new Map(many), expiresInMs: deliveryRecordTtlMs, needs }
  })
  return isWritten ? markStored(start) : { state: 'gone' }
}

/** Marks the records of a reserved send as stored. If one is missing from now on, the store lost it. */
const markStored = (start: SendStart): SendStart => {
  if (start.state === 'reserved') for (const { delivery } of start.taken) delivery.recordState.isStored = true
  return start
}

const getRecordKey = ({ delivery }: QueuedDelivery): string => getDeliveryRecordKey(delivery.notification.episode)
const getMessageId = ({ delivery }: QueuedDelivery): string => delivery.message.id

interface DeliveryStep {
  nextStep: NextStep
  attempts: number
  /** The record after the send has started. */
  reserved: DeliveryRecord
}

/** Returns the next step of a delivery that no process is sending. */
const computeStep = (delivery: PendingDelivery, before: DeliveryRecord | undefined): DeliveryStep => {
  const { notification, opening } = delivery
  const key = getTargetKey(delivery)
  const record = markInterrupted(addPendingDeliveries(before, notification, opening), key)
  const known = record.recipients[key]
  return {
    nextStep: decideNextStep(record, key, notification),
    attempts: known?.sequence === notification.sequence ? known.attempts : 0,
    reserved: beginSend(record, key, notification),
  }
}

const toStartWithoutSend = (nextStep: Exclude<NextStep, 'send'>, attempts: number): SendStart => {
  if (nextStep === 'wait') return { state: 'waits', entry: { waitsFor: 'episode', againInMs: digestCheckIntervalMs } }
  if (nextStep === 'sent') return { state: 'ended', end: { result: 'sent', reason: null, attempts: attempts + 1 } }
  const { end: result, reason } = nextStep
  return { state: 'ended', end: { result, reason, attempts: result === 'dead' ? attempts : 0 } }
}
