import type { Condition, HeldReason, HostRecord, Silence } from './condition.ts'
import { isInMaintenance, isQuiet } from './mute-timings.ts'
import type { Policy } from '../policy.ts'

/** What is due to be told about a condition. */
export type Due = 'fire' | 'escalate' | 'remind' | 'recover'

/** Where and when something is due, and what operators have settled. */
export interface Telling {
  hostKey: string
  policy: Policy
  nowMs: number
}

/** What is due, whoever may hold it; nothing of what was ok on the last sweep, for it might not be true. */
export const dueOf = ({ phase, told, clears, severity }: Condition, { policy, nowMs }: Telling): Due | null => {
  if (phase === 'cleared') return 'recover'
  if (phase === 'pending' || clears > 0) return null
  if (told === null) return 'fire'
  if (severity === 'critical' && told.severity === 'warning') return 'escalate'
  return policy.cooldownMs > 0 && nowMs - told.atMs >= policy.cooldownMs ? 'remind' : null
}

/** Why it is not told now; null lets it pass. Who was told of a fire is told of its end, unless nobody is to be told anything. */
export const heldBy = (due: Due, condition: Condition, isMuted: boolean, telling: Telling): HeldReason | null => {
  const { policy, hostKey, nowMs } = telling
  const { severity, acknowledged, dismissed, ruleId } = condition
  if (!policy.enabled) return 'disabled'
  if (isInMaintenance(policy.maintenance, hostKey, nowMs)) return 'maintenance'
  if (due === 'recover') return null
  const floor = policy.rules[ruleId]?.minSeverity ?? policy.leastSeverity
  if (floor === 'critical' && severity === 'warning') return 'severity'
  if (isMuted) return 'host-unreachable'
  if (holds(dismissed, nowMs)) return 'dismissed'
  if (due === 'remind' && holds(acknowledged, nowMs)) return 'acknowledged'
  return isQuiet(policy.quietHours, severity, nowMs) ? 'quiet-hours' : null
}

const holds = (silence: Silence | null, nowMs: number): boolean =>
  silence !== null && (silence.untilMs === null || silence.untilMs > nowMs)

const unreachable = 'host-unreachable'

/** A host that does not answer is told of once: what else is known of it is old. */
export const isMuted = (ruleId: string, conditions: HostRecord['conditions']): boolean => {
  const host = conditions[unreachable]
  return ruleId !== unreachable && host !== undefined && host.phase !== 'cleared' && host.clears === 0
}
