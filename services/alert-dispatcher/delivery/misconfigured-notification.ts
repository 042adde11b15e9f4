import type { Notification } from '../notification.ts'
import type { TargetRateLimit } from './rate-limit.ts'

/** Id of the rule that reports a misconfigured target through the other targets. */
export const brokenChannelRuleId = 'alert-channel-broken'

interface TargetAddress {
  channel: string
  target: string
}

/**
 * Returns the notification for the other targets when one becomes misconfigured or recovers; undefined if nothing
 * changed.
 */
export const buildMisconfiguredTargetNotification = (
  { channel, target }: TargetAddress,
  before: TargetRateLimit['broken'],
  after: TargetRateLimit['broken'],
  nowMs: number,
): Notification | undefined => {
  const broken = after ?? before
  if (broken === null || (before === null) === (after === null)) return undefined
  const isOver = after === null
  const episode = `broken:${channel}:${target}:${broken.sinceMs}`
  const sequence = isOver ? 1 : 0
  return {
    id: `${episode}:${sequence}`,
    kind: isOver ? 'recover' : 'fire',
    episode,
    sequence,
    hostKey: null,
    // Because of this source, the target itself is not among the recipients.
    source: `${channel}:${target}`,
    ruleId: brokenChannelRuleId,
    title: `Notifications fail for ${channel}:${target}`,
    severity: 'warning',
    value: null,
    threshold: null,
    unit: 'none',
    offenders: [],
    runbook:
      'The target rejects its URL or secret: correct the settings of this channel, then send a test notification.',
    sinceMs: broken.sinceMs,
    atMs: nowMs,
    reason: isOver ? 'the target accepts notifications again' : broken.reason,
    gathered: [],
  }
}
