import type { Ready } from './joined.ts'

/** With those of evaluators, which ask three, a host is asked twelve statements in one sweep. */
const maxStatements = 9
/** Fewer rules than this are not spread over several statements. */
const minTogether = 8

/** What is asked together: rules that read the same beside one another, and those alone that must be. */
export const groupsOf = (ready: readonly Ready[]): Ready[][] => {
  const alone = ready.filter((each) => each.alone)
  const others = ready.filter((each) => !each.alone).toSorted(byTable)
  const slots = Math.max(1, maxStatements - alone.length)
  const size = Math.max(minTogether, Math.ceil(others.length / slots))
  const together = Array.from({ length: Math.ceil(others.length / size) }, (_, index) =>
    others.slice(index * size, (index + 1) * size),
  )
  // The slow ones first, so that nobody waits for them at the end.
  return [...alone.map((each) => [each]), ...together]
}

const byTable = (a: Ready, b: Ready): number =>
  (a.requires[0] ?? '').localeCompare(b.requires[0] ?? '') || a.key.localeCompare(b.key)
