import type { DeadLetter } from '#lib/api/alerting.ts'

interface DeadLetterText {
  title: string
  /** The host that the alert is about; null if there is none. */
  on: string | null
  /** The receiver of a notification, or the sender of an event. */
  path: string
  severity: 'critical' | 'warning' | 'info'
  /** Whether the message can be replayed. An unreadable event would fail again. */
  isReadable: boolean
}

/** Returns the texts with which the list shows a dead letter. */
export const describeDeadLetter = (letter: DeadLetter): DeadLetterText => {
  if (letter.stream === 'DELIVER') {
    const { title, host, target, severity } = letter
    return { title, on: host, path: `To ${target}`, severity, isReadable: true }
  }
  const { title, source, severity } = letter
  const path = source === null ? 'Inbound event' : `Inbound event from ${source}`
  return {
    title: title ?? 'Unreadable event',
    on: null,
    path,
    severity: severity ?? 'warning',
    isReadable: letter.event !== null,
  }
}
