import type { Notification } from '../../notification.ts'

/** Returns a notification with optional changes. */
export const createNotification = (more: Partial<Notification> = {}): Notification => {
  const { episode = 'episode-1', sequence = 0 } = more
  return {
    id: `${episode}:${sequence}`,
    kind: 'fire',
    episode,
    sequence,
    hostKey: 'db',
    source: null,
    ruleId: 'disk-usage',
    title: 'Disk almost full',
    severity: 'warning',
    value: 91.5,
    threshold: 90,
    unit: 'percent',
    offenders: ['default', 'cold'],
    runbook: 'Free some space.',
    sinceMs: 1_790_000_000_000,
    atMs: 1_790_000_060_000,
    reason: 'threshold reached',
    gathered: [],
    ...more,
  }
}
