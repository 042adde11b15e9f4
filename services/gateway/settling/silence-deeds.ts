/** What the audit calls what operators say to conditions, and its taking back. */
export const deeds = {
  ack: { done: 'acknowledge-alert', undone: 'unacknowledge-alert' },
  dismissal: { done: 'dismiss-alert', undone: 'restore-alert' },
} as const
