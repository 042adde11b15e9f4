import type { DeadLetter } from '#lib/api/alerting.ts'

interface DeadLetterText {
  title: string
  /** The host of the alert. */
  on: string | null
  /** The receiver or the sender. */
  path: string
  severity: 'critical' | 'warning' | 'info'
  /** Whether it can be replayed; an unreadable event would fail again. */
  isReadable: boolean
}

/** Describes a dead letter for the list. */
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
