import { Severity } from '#proto/rules.ts'
import { recordInstant } from '#shared/time/clock.ts'
import type { NotificationTarget } from '../channels/targets.ts'
import type { Notification } from '../notification.ts'
import type { Policy } from '../policy.ts'
import { brokenChannelRuleId } from './misconfigured-notification.ts'
import type { DeliveryDeps, ListedHosts } from './delivery-deps.ts'
import {
  DeliveryRecord,
  type PendingDeliveryOptions,
  isDeliveryFinished,
  listAddressedTargets,
  getDeliveryRecordKey,
  getTargetKey,
} from './delivery-record.ts'
import { type RouteSubject, selectTargets } from './routing.ts'

/** A target with its key in delivery records. */
export type KeyedTarget = NotificationTarget & { key: string }

/**
 * Returns the targets with their keys. Misconfigured channels are not reported to the channel itself or to user
 * subscriptions.
 */
export const addTargetKeys = (
  targets: readonly NotificationTarget[],
  { ruleId, source }: Notification,
): KeyedTarget[] =>
  targets
    .map((target) => ({ ...target, key: getTargetKey({ channel: target.channel, target: target.id }) }))
    .filter(({ key, own }) => ruleId !== brokenChannelRuleId || (key !== source && !own))

/** The properties of a notification that routing uses. */
export type RoutedNotification = Pick<Notification, 'hostKey' | 'ruleId' | 'severity'> &
  Partial<Pick<Notification, 'source' | 'kind'>>

/** Returns a function that selects targets by routes and minimum severities. */
export const createTargetSelector =
  (targets: readonly KeyedTarget[], policy: Policy, hosts: ListedHosts) =>
  (about: RoutedNotification): KeyedTarget[] => {
    const { routes, rules, minSeverity } = policy
    const choose = (severity: Severity, minimum: Severity | null) =>
      selectTargets(targets, toRouteSubject({ ...about, severity }, hosts), { routes, minSeverity: minimum })
    // The minimum severity of the rule takes precedence over the global one.
    if (about.kind !== 'notify') {
      const chosen = choose(about.severity, rules[about.ruleId]?.minSeverity ?? minSeverity)
      // A misconfigured channel is always reported, even if no route or severity matches.
      return chosen.length === 0 && about.ruleId === brokenChannelRuleId ? [...targets] : chosen
    }
    // A notification of another service, such as a report, ignores minimum severities and follows the routes of any
    // severity.
    const chosen = new Set(Severity.options.flatMap((severity) => choose(severity, null)))
    return targets.filter((target) => chosen.has(target))
  }

const toRouteSubject = (
  { hostKey, source = null, ruleId, severity }: RoutedNotification,
  hosts: ListedHosts,
): RouteSubject => {
  const host = hostKey === null ? undefined : hosts.get(hostKey)
  const names = [hostKey, host?.name, source].filter((name) => typeof name === 'string')
  return { ruleId, hosts: names, group: host?.group ?? null, tags: host?.tags ?? [], severity }
}

/** Maximum number of notifications before or after one of the same episode to look for in the outbox. */
const maxNearbyNotifications = 50

/**
 * Returns the recipients of a notification. If its deliveries are already recorded, the recipients stay the same. A
 * recovery goes to all recipients of the alert, even if routes changed since. All other notifications follow the
 * routes.
 */
export const resolveRecipients = async (
  { store, deliveries, clock }: Pick<DeliveryDeps, 'store' | 'deliveries' | 'clock'>,
  notification: Notification,
  record: DeliveryRecord | undefined,
  choose: () => readonly KeyedTarget[],
): Promise<PendingDeliveryOptions> => {
  // `recordInstant` registers the time, so that its age stays correct even if the system clock is set later.
  const nowMs = recordInstant(clock)
  const chosen = () => choose().map(({ key }) => key)
  const opened = findAddressedTargets(record, notification)
  if (opened.length > 0) return { keys: opened, isWhole: true, nowMs }
  if (notification.kind !== 'recover') {
    const notified = notification.isAgain ? await loadNotifiedTargets(deliveries, notification) : []
    return { keys: chosen(), notified, isWhole: notification.sequence === 0 && !notification.isAgain, nowMs }
  }
  if (record?.isWhole && !notification.isAgain) return { keys: Object.keys(record.recipients), isWhole: true, nowMs }
  const earlier = Array.from(
    { length: Math.min(notification.sequence, maxNearbyNotifications) },
    (_, index) => notification.sequence - 1 - index,
  )
  const waiting = record
    ? new Set()
    : await store.outbox.holds(earlier.map((sequence) => `${notification.episode}:${sequence}`))
  // The database has the recipients from before the store lost its record.
  const notified = await loadNotifiedTargets(deliveries, notification)
  const keys = [...notified.map(({ key }) => key), ...Object.keys(record?.recipients ?? {})]
  // The alert is not delivered yet, so it has no other recipients.
  if (waiting.size > 0) return { keys: [...keys, ...chosen()], notified, isWhole: notified.length === 0, nowMs }
  if (keys.length > 0) return { keys, notified, isWhole: false, nowMs }
  // The recipients are unknown, so all selected targets get the recovery. A surplus one is better than a missing one.
  return { keys: chosen(), mayKnow: true, isWhole: false, nowMs }
}

/**
 * Returns the targets to which the notification is already addressed; none for a repeated notification, because the
 * record may be incomplete after a loss.
 */
export const findAddressedTargets = (record: DeliveryRecord | undefined, notification: Notification): string[] =>
  record && !notification.isAgain ? listAddressedTargets(record, notification) : []

/**
 * Returns the last notification of the episode that each target received, from the database. The sequence numbers may
 * be outdated, so `isOver` alone decides whether a target received the recovery.
 */
const loadNotifiedTargets = async (
  { notifiedTargets }: DeliveryDeps['deliveries'],
  { episode, kind, sequence }: Notification,
): Promise<{ key: string; sequence: number; isOver: boolean }[]> =>
  (await notifiedTargets(episode)).map(({ isOver, ...notified }) => {
    const beforeEnd = Math.max(0, Math.min(notified.sequence, sequence - 1))
    return {
      key: getTargetKey(notified),
      sequence: kind !== 'recover' ? notified.sequence : isOver ? sequence : beforeEnd,
      isOver,
    }
  })

/**
 * Returns whether a target that should have received the notification has no stored delivery. For a recovery, these are
 * the targets that received the alert.
 */
export const hasMissingDelivery = async (deps: MissedDeps, notification: Notification): Promise<boolean> => {
  const { deliveries, policy: current, targets, hosts } = deps
  const notified = await loadNotifiedTargets(deliveries, notification)
  if (notification.kind === 'recover') return isRecoveryMissed(deps, notification, notified)
  const policy = await current()
  const chosen = createTargetSelector(addTargetKeys(targets(policy), notification), policy, await hosts())(notification)
  const upToDate = new Set(notified.filter(({ sequence }) => sequence >= notification.sequence).map(({ key }) => key))
  return chosen.some(({ key }) => !upToDate.has(key))
}

type MissedDeps = Pick<DeliveryDeps, 'store' | 'deliveries' | 'policy' | 'targets' | 'hosts'>

/**
 * Returns whether a target that received the alert lacks its recovery. A recovery in the outbox is still being
 * delivered, and a dropped or dead one needs no repetition.
 */
const isRecoveryMissed = async (
  { store }: MissedDeps,
  { episode, sequence }: Notification,
  notified: readonly { key: string; isOver: boolean }[],
): Promise<boolean> => {
  const open = notified.filter(({ isOver }) => !isOver)
  if (open.length === 0) return false
  // The database may lack later notifications, so the recovery may have a higher sequence number than expected.
  const ends = Array.from({ length: maxNearbyNotifications }, (_, index) => `${episode}:${sequence + index}`)
  if ((await store.outbox.holds(ends)).size > 0) return false
  const record = await store.get(getDeliveryRecordKey(episode), DeliveryRecord)
  return open.some(({ key }) => {
    const known = record?.recipients[key]
    return known === undefined || known.sequence !== record?.endedBy || !isDeliveryFinished(known)
  })
}
