import type { Condition, HoldReason, HostRecord, Episode, Transition } from './condition.ts'
import {
  type DueNotificationKind,
  type NotifyContext,
  findDueNotificationKind,
  findHoldReason,
  isMutedByUnreachableHost,
} from './hold-reasons.ts'
import type { Notification } from '../notification.ts'

/** Notifications that are due for one host, and the resulting state. */
export interface NotifyResult {
  conditions: HostRecord['conditions']
  notifications: Notification[]
  /** Number of held notifications by reason. */
  held: Partial<Record<HoldReason, number>>
  /** Changed episodes and their history entries. */
  episodes: Episode[]
  transitions: Transition[]
}

/**
 * Returns the due notifications that are not held, and the updated conditions. A held notification is due again at each
 * call, until it is sent or its condition changes.
 */
export const collectDueNotifications = (conditions: HostRecord['conditions'], context: NotifyContext): NotifyResult => {
  const result: NotifyResult = { conditions: {}, notifications: [], held: {}, episodes: [], transitions: [] }
  for (const condition of Object.values(conditions)) {
    notifyCondition(
      clampTimestamps(condition, context.nowMs),
      isMutedByUnreachableHost(condition.ruleId, conditions),
      context,
      result,
    )
  }
  return result
}

/**
 * Clamps timestamps after the clock was set back, so that reminders are not delayed and no episode starts after its
 * end.
 */
const clampTimestamps = (condition: Condition, nowMs: number): Condition => ({
  ...condition,
  sinceMs: Math.min(condition.sinceMs, nowMs),
  lastNotification: condition.lastNotification && {
    ...condition.lastNotification,
    atMs: Math.min(condition.lastNotification.atMs, nowMs),
  },
})

const notifyCondition = (condition: Condition, isMuted: boolean, context: NotifyContext, into: NotifyResult): void => {
  const due = findDueNotificationKind(condition, context)
  if (due === null) return storeCondition({ ...condition, held: null }, into)
  if (due === 'recover' && condition.lastNotification === null)
    return endCondition(condition, 'recovered before any notification was sent', context, into)
  const held = findHoldReason(due, condition, isMuted, context)
  if (held !== null) return holdNotification(condition, held, context, into)
  const reason = describeReason(due, condition, context)
  const isOverdue = due === 'fire' && condition.held === 'disabled'
  into.notifications.push({ ...buildNotification(due, condition, reason, context), ...(isOverdue && { isOverdue }) })
  if (due === 'recover') return endCondition(condition, reason, context, into)
  const { severity } = condition
  const next = {
    ...condition,
    lastNotification: { severity, atMs: context.nowMs },
    sequence: condition.sequence + 1,
    held: null,
  }
  recordTransition(due, next, reason, context, into)
  storeCondition(next, into)
}

const storeCondition = (condition: Condition, { conditions }: NotifyResult): void => {
  conditions[condition.ruleId] = condition
}

const holdNotification = (
  condition: Condition,
  reason: HoldReason,
  context: NotifyContext,
  into: NotifyResult,
): void => {
  into.held[reason] = (into.held[reason] ?? 0) + 1
  const next = { ...condition, held: reason }
  if (condition.held !== reason) recordTransition('held', next, reason, context, into)
  storeCondition(next, into)
}

const endCondition = (condition: Condition, reason: string, context: NotifyContext, into: NotifyResult): void => {
  recordTransition('recover', advanceToRecovery(condition), reason, context, into, context.nowMs)
}

/** Returns the condition with the sequence number that follows its recovery notification. */
export const advanceToRecovery = (condition: Condition): Condition => ({
  ...condition,
  sequence: condition.sequence + 1,
})

/**
 * Returns the last notification of an episode, to be repeated after the state store lost its delivery record. Undefined
 * if none was sent or if the recovery is held.
 */
export const createRepeatedNotification = (
  condition: Condition,
  endedAtMs: number | null,
  context: Pick<NotifyContext, 'hostKey' | 'nowMs'>,
): Notification | undefined => {
  const isOver = endedAtMs !== null
  // For an ended episode, the delivery records show which targets lack the recovery.
  const isNotified = isOver || (condition.lastNotification !== null && condition.phase === 'firing')
  if (!isNotified || condition.sequence === 0) return undefined
  const last = { ...condition, sequence: condition.sequence - 1 }
  const reason = isOver ? 'recovered' : 'still firing'
  return { ...buildNotification(isOver ? 'recover' : 'fire', last, reason, context), isAgain: true }
}

/** Appends a history entry and the new state of its episode to `into`. */
export const recordTransition = (
  kind: Transition['kind'],
  condition: Condition,
  reason: string,
  { hostKey, nowMs }: Pick<NotifyContext, 'hostKey' | 'nowMs'>,
  into: Pick<NotifyResult, 'episodes' | 'transitions'>,
  endedAtMs: number | null = null,
): void => {
  const { episode, sequence } = condition
  into.episodes.push({ hostKey, condition, endedAtMs })
  into.transitions.push({
    // The id is deterministic, so a retry overwrites the entry instead of adding another.
    id: `${episode}:${kind}:${sequence}:${nowMs}`,
    ...pickFacts(condition),
    hostKey,
    kind,
    atMs: nowMs,
    reason,
  })
}

const buildNotification = (
  kind: DueNotificationKind,
  condition: Condition,
  reason: string,
  { hostKey, nowMs }: Pick<NotifyContext, 'hostKey' | 'nowMs'>,
): Notification => {
  const { episode, sequence, unit, offenders, runbook, peak } = condition
  const facts = pickFacts(condition)
  return {
    ...facts,
    id: `${episode}:${sequence}`,
    kind,
    sequence,
    hostKey,
    source: null,
    // A recovery has the highest severity of its episode, which decides its recipients.
    severity: kind === 'recover' ? peak : facts.severity,
    ...(kind === 'recover' && condition.clears === 0 && { isUnseen: true }),
    unit,
    // Offenders of a recovered condition are outdated.
    offenders: kind === 'recover' ? [] : offenders,
    runbook,
    atMs: nowMs,
    reason,
    gathered: [],
  }
}

const pickFacts = ({ episode, ruleId, title, severity, value, threshold, sinceMs }: Condition) => ({
  episode,
  ruleId,
  title,
  severity,
  value,
  threshold,
  sinceMs,
})

const describeReason = (due: DueNotificationKind, condition: Condition, { nowMs }: NotifyContext): string => {
  const { held, clears, lastNotification } = condition
  if (due === 'recover')
    return clears > 0 ? `ok for ${formatSweeps(clears)} in a row` : 'the rule is no longer evaluated'
  if (due === 'remind')
    return `still firing, ${formatMinutes(nowMs - (lastNotification?.atMs ?? nowMs))} after the last notification`
  const cause = due === 'fire' ? 'threshold reached' : 'severity increased to critical'
  return describeHold(cause, held)
}

/** Returns the cause of a notification and, if it was held, the reason for the delay. */
export const describeHold = (cause: string, held: HoldReason | null): string =>
  held === null ? cause : `${cause}; held until now: ${heldWords[held]}`

const heldWords: Readonly<Record<HoldReason, string>> = {
  disabled: 'alerting was disabled',
  maintenance: 'maintenance',
  'quiet-hours': 'quiet hours',
  severity: 'its severity was below the minimum',
  'host-unreachable': 'the host was unreachable',
  acknowledged: 'acknowledged',
  dismissed: 'dismissed',
}

const formatSweeps = (count: number): string => (count === 1 ? '1 sweep' : `${count} sweeps`)

const formatMinutes = (lengthMs: number): string => `${Math.round(lengthMs / 60_000)} min`
