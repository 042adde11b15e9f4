import type { Notice } from '../notice.ts'
import type { Pace } from './pace.ts'

/** The rule by which a target that cannot be reached because of its set-up is told of through the others. */
export const brokenRule = 'alert-channel-broken'

interface Which {
  channel: string
  target: string
}

/** What the other targets are told when one breaks or takes messages again; undefined while nothing has changed. */
export const brokenNotice = (
  { channel, target }: Which,
  before: Pace['broken'],
  after: Pace['broken'],
  nowMs: number,
): Notice | undefined => {
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
    // Who is broken need not be told so.
    source: `${channel}:${target}`,
    ruleId: brokenRule,
    title: `Alerts do not reach ${channel}:${target}`,
    severity: 'warning',
    value: null,
    threshold: null,
    unit: 'none',
    offenders: [],
    runbook: 'Its address or secret is refused: look at the settings of this channel, then send a test.',
    sinceMs: broken.sinceMs,
    atMs: nowMs,
    reason: isOver ? 'it takes messages again' : broken.reason,
    gathered: [],
  }
}
