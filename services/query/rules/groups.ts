import type { Ready } from './joined.ts'

/** With those of evaluators, which ask three, a host is asked twelve statements in one sweep. */
const maxStatements = 9
/** Fewer rules than this are not spread over several statements. */
const minTogether = 8

/** More that ask to be alone share one statement with those that were slow before. */
const maxAlone = 5

/** What is asked together: rules that read the same beside one another, those that may be slow with each other, and some alone. */
export const groupsOf = (ready: readonly Ready[]): Ready[][] => {
  const wanting = ready.filter((each) => each.alone)
  const alone = wanting.slice(0, maxAlone).map((each) => [each])
  const slow = [...wanting.slice(maxAlone), ...ready.filter((each) => each.isSlow && !each.alone)]
  const others = ready.filter((each) => !each.alone && !each.isSlow).toSorted(byTable)
  // First what may take long, so that nobody waits for it at the end.
  const first = slow.length > 0 ? [...alone, slow] : alone
  const slots = Math.max(1, maxStatements - first.length)
  const size = Math.max(minTogether, Math.ceil(others.length / slots))
  const together = Array.from({ length: Math.ceil(others.length / size) }, (_, index) =>
    others.slice(index * size, (index + 1) * size),
  )
  return [...first, ...together]
}

const byTable = (a: Ready, b: Ready): number =>
  (a.requires[0] ?? '').localeCompare(b.requires[0] ?? '') || a.key.localeCompare(b.key)
