import { hash } from 'node:crypto'
import type { Notification } from '../notification.ts'

/** Delivery order at a target, lowest first: critical, then warning, then recoveries, then reminders. */
export type DeliveryPriority = 0 | 1 | 2 | 3

const highestPriority = 0

/** Waiting time after which a notification has the highest priority, so that no other overtakes it. */
const maxOvertakenMs = 5 * 60_000

/** Returns the priority of a notification that has waited this long; after five minutes it is the highest. */
export const getDeliveryPriority = (notification: Notification, waitedMs: number): DeliveryPriority =>
  waitedMs >= maxOvertakenMs ? highestPriority : computeOwnPriority(notification)

/** Returns whether a notification has the highest priority at once: a critical alert or a test notification. */
export const isUrgent = (notification: Notification): boolean => computeOwnPriority(notification) === highestPriority

const computeOwnPriority = ({ kind, severity }: Notification): DeliveryPriority => {
  if (kind === 'test') return highestPriority
  if (kind === 'fire' || kind === 'escalate') return severity === 'critical' ? highestPriority : 1
  if (kind === 'digest') return 1
  return kind === 'recover' ? 2 : 3
}

/** Keys of the groups that a notification may join: `alike` for the same rule, `any` for all rules. */
export interface GroupKeys {
  alike: string
  any: string
}

/**
 * Returns the group keys; undefined if the notification is always sent alone. Groups never mix phases or severities.
 */
export const getGroupKeys = ({
  kind,
  severity,
  ruleId,
  title,
  isUnseen = false,
}: Notification): GroupKeys | undefined => {
  const phase = phases[kind]
  if (phase === undefined) return undefined
  const any = JSON.stringify([phase, severity, isUnseen])
  return { alike: hashGroupKey(JSON.stringify([any, ruleId, title])), any: hashGroupKey(any) }
}

const phases: Partial<Record<Notification['kind'], string>> = {
  fire: 'firing',
  escalate: 'firing',
  remind: 'still firing',
  recover: 'resolved',
}

const hashGroupKey = (text: string): string => hash('sha256', text).slice(0, 16)
