import type { Condition, HoldReason, HostRecord, ConditionSilence } from './condition.ts'
import { isInMaintenance, isInQuietHours } from './mute-timings.ts'
import type { Policy } from '../policy.ts'

/** The kind of notification that is due for a condition. */
export type DueNotificationKind = 'fire' | 'escalate' | 'remind' | 'recover'

/** The host, time and alert configuration for which due notifications are collected. */
export interface NotifyContext {
  hostKey: string
  policy: Policy
  nowMs: number
}

/**
 * Returns the kind of notification that is due, regardless of silences and mute timings; null if none is due. After an
 * ok evaluation, only a recovery can be due, because the breach may be over.
 */
export const findDueNotificationKind = (
  { phase, lastNotification, clears, severity }: Condition,
  { policy, nowMs }: NotifyContext,
): DueNotificationKind | null => {
  if (phase === 'cleared') return 'recover'
  if (phase === 'pending' || clears > 0) return null
  if (lastNotification === null) return 'fire'
  if (severity === 'critical' && lastNotification.severity === 'warning') return 'escalate'
  return policy.cooldownMs > 0 && nowMs - lastNotification.atMs >= policy.cooldownMs ? 'remind' : null
}

/**
 * Returns why a due notification is held; null if it may be sent. Recoveries pass unless alerting is disabled or
 * maintenance applies.
 */
export const findHoldReason = (
  due: DueNotificationKind,
  condition: Condition,
  isMuted: boolean,
  context: NotifyContext,
): HoldReason | null => {
  const { policy, hostKey, nowMs } = context
  const { severity, acknowledged, dismissed, ruleId } = condition
  if (!policy.enabled) return 'disabled'
  if (isInMaintenance(policy.maintenance, hostKey, nowMs)) return 'maintenance'
  if (due === 'recover') return null
  const minimum = policy.rules[ruleId]?.minSeverity ?? policy.leastSeverity
  if (minimum === 'critical' && severity === 'warning') return 'severity'
  if (isMuted) return 'host-unreachable'
  if (holds(dismissed, nowMs)) return 'dismissed'
  if (due === 'remind' && holds(acknowledged, nowMs)) return 'acknowledged'
  return isInQuietHours(policy.quietHours, severity, nowMs) ? 'quiet-hours' : null
}

const holds = (silence: ConditionSilence | null, nowMs: number): boolean =>
  silence !== null && (silence.untilMs === null || silence.untilMs > nowMs)

const hostUnreachableRuleId = 'host-unreachable'

/** Returns whether a rule is muted because its host is unreachable, so that its data is outdated. */
export const isMutedByUnreachableHost = (ruleId: string, conditions: HostRecord['conditions']): boolean => {
  const host = conditions[hostUnreachableRuleId]
  return ruleId !== hostUnreachableRuleId && host !== undefined && host.phase !== 'cleared' && host.clears === 0
}
