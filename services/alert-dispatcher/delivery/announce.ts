import { hash } from 'node:crypto'
import type { alerts } from '#proto/alerts.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { AnnouncementResult, notifyMethods } from '#proto/announcements.ts'
import { recordInstant } from '#shared/time/clock.ts'
import { type Notification, addressedNotificationTopic, getDeliveryId } from '../notification.ts'
import type { Policy } from '../policy.ts'
import type { DeliveryDeps } from './delivery-deps.ts'
import { type KeyedTarget, createTargetSelector, addTargetKeys } from './recipients.ts'
import {
  DeliveryRecord,
  addPendingDeliveries,
  getDeliveryRecordKey,
  deliveryRecordTtlMs,
  getTargetKey,
} from './delivery-record.ts'

export type NotifyHandlers = Pick<ServiceHandlers<typeof alerts>, keyof typeof notifyMethods>
type NotifyRequest = Parameters<NotifyHandlers['notify']>[0]

type AnnounceDeps = Pick<DeliveryDeps, 'store' | 'deliveries' | 'clock' | 'policy' | 'targets' | 'hosts'>

/**
 * Returns the handler that queues notifications of other services. They are not alerts, so minimum severity, digest and
 * maintenance do not apply.
 */
export const createNotifyHandler =
  (deps: AnnounceDeps): NotifyHandlers['notify'] =>
  async (announced) => {
    const notification = notificationOf(announced, deps.clock.now())
    const policy = await deps.policy()
    const targets = addTargetKeys(deps.targets(policy), notification).filter(({ announces }) => announces)
    const chosen = policy.enabled ? createTargetSelector(targets, policy, await deps.hosts())(notification) : []
    const notified = await listDeliveredKeys(deps, notification)
    const missing = chosen.filter(({ key }) => !notified.has(key))
    const failure = await appendToOutbox(deps, notification, missing)
    return targets.map((target): AnnouncementResult => {
      const { channel, id, name } = target
      return { channel, target: id, name, ...determineOutcome(target, { policy, notified, missing, failure }) }
    })
  }

const notificationOf = (announced: NotifyRequest, atMs: number): Notification => {
  const { topic, key, title, severity, hostKey, text, facts, path } = announced
  // The key may contain characters that are not allowed in subjects and headers.
  const episode = `notify:${topic}:${hash('sha256', key).slice(0, 32)}`
  return {
    id: `${episode}:0`,
    kind: 'notify',
    episode,
    sequence: 0,
    hostKey,
    source: null,
    ruleId: topic,
    title,
    severity,
    value: null,
    threshold: null,
    unit: 'none',
    offenders: [],
    runbook: '',
    sinceMs: atMs,
    atMs,
    reason: '',
    gathered: [],
    announced: { text, facts, path },
  }
}

/** Returns the keys of the targets that received the notification. Reads the database if the store has no record. */
const listDeliveredKeys = async (
  { store, deliveries }: AnnounceDeps,
  { episode, sequence }: Notification,
): Promise<ReadonlySet<string>> => {
  const record = await store.get(getDeliveryRecordKey(episode), DeliveryRecord)
  if (!record) return new Set((await deliveries.notifiedTargets(episode)).map(getTargetKey))
  return new Set(Object.keys(record.recipients).filter((key) => record.recipients[key]?.taken.includes(sequence)))
}

/** Writes the notification to the outbox for each target. Returns the error message if that fails, else undefined. */
const appendToOutbox = async (
  { store, clock }: AnnounceDeps,
  notification: Notification,
  missing: readonly KeyedTarget[],
): Promise<string | undefined> => {
  if (missing.length === 0) return undefined
  const opening = { keys: missing.map(({ key }) => key), isWhole: false, nowMs: recordInstant(clock) }
  const outbox = missing.map(({ channel, id: target }) => {
    const payload = { notification, channel, target }
    return { id: getDeliveryId(payload), topic: addressedNotificationTopic, payload }
  })
  try {
    await store.update(getDeliveryRecordKey(notification.episode), DeliveryRecord, (before) => ({
      value: addPendingDeliveries(before, notification, opening),
      expiresInMs: deliveryRecordTtlMs,
      outbox,
    }))
    return undefined
  } catch (error) {
    if (error instanceof ServiceError) return error.message
    throw error
  }
}

interface AppendResult {
  policy: Policy
  notified: ReadonlySet<string>
  missing: readonly KeyedTarget[]
  failure: string | undefined
}

const determineOutcome = (
  target: KeyedTarget,
  { policy, notified, missing, failure }: AppendResult,
): Pick<AnnouncementResult, 'outcome' | 'reason'> => {
  if (notified.has(target.key)) return { outcome: 'already-sent', reason: null }
  if (!policy.enabled) return { outcome: 'held', reason: 'alerting is disabled' }
  if (!missing.includes(target)) return { outcome: 'held', reason: 'no route matches' }
  return failure === undefined ? { outcome: 'queued', reason: null } : { outcome: 'failed', reason: failure }
}
