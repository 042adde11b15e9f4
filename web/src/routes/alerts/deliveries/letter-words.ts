import type { DeadLetter } from '#lib/api/alerting.ts'

interface LetterWords {
  title: string
  /** What follows the title: where it is so. */
  on: string | null
  /** To whom, or from whom. */
  path: string
  severity: 'critical' | 'warning' | 'info'
  /** What nobody can read would be given up again. */
  isReadable: boolean
}

/** What a list says of something that was given up. */
export const letterWords = (letter: DeadLetter): LetterWords => {
  if (letter.stream === 'DELIVER') {
    const { title, host, target, severity } = letter
    return { title, on: host, path: `To ${target}`, severity, isReadable: true }
  }
  const { title, source, severity } = letter
  const path = source === null ? 'Inbound event' : `Inbound event from ${source}`
  return {
    title: title ?? 'An event that cannot be read',
    on: null,
    path,
    severity: severity ?? 'warning',
    isReadable: letter.event !== null,
  }
}
