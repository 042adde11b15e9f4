import type { Send } from './sends.ts'

/** What came of a schedule. */
export interface Outcome {
  /** Acts and faults in their order. */
  log: readonly string[]
  /** Broken invariants in words; none where all held. */
  problems: readonly string[]
  sends: number
}

/** What is true once all events were taken and all is delivered. */
export interface Truth {
  /** The episodes that are open, with the sequence of the last notice that was decided of each. */
  open: ReadonlyMap<string, number>
  targets: readonly string[]
  /** When a process was killed or a store lost what it held: what was being sent then may be sent again. */
  cutsMs: number[]
  /** When a store lost what it held. */
  lossesMs: number[]
  /** What the database has as sent, by `lineOf`. */
  sent: ReadonlySet<string>
  /** When a connection was cut: a send that was to begin then has begun as far as the store knows. */
  unknownMs: number[]
}

/** Checks, for each target and episode, the invariants that the README of delivery states. */
export const checkSends = (sends: readonly Send[], truth: Truth): string[] => {
  const episodes = new Set([...sends.map(({ episode }) => episode), ...truth.open.keys()])
  return truth.targets.flatMap((target) =>
    [...episodes].flatMap((episode) => {
      const some = sends.filter((send) => send.target === target && send.episode === episode)
      return [...checkOrder(some, truth), ...checkLast(some, truth.open.get(episode), truth)].map(
        (problem) => `target ${target}, episode ${episode}: ${problem}`,
      )
    }),
  )
}

/** Names a notice at a target. */
export const lineOf = ({ target, episode, sequence }: Pick<Send, 'target' | 'episode' | 'sequence'>): string =>
  `${target} ${episode} ${sequence}`

const isEnd = ({ kind }: Send): boolean => kind === 'recover'

const checkOrder = (sends: readonly Send[], { cutsMs, unknownMs }: Truth): string[] => {
  const problems: string[] = []
  const taken = sends.filter((send) => send.taken)
  const [first] = sends
  // A process that was killed or cut off may have sent the fire: then its end is sent.
  if (first && isEnd(first) && ![...cutsMs, ...unknownMs].some((atMs) => atMs <= first.beganMs))
    problems.push('a recovery was sent that no fire preceded')
  const end = taken.findIndex(isEnd)
  if (end >= 0 && taken.slice(end).some((send) => !isEnd(send))) problems.push('something was sent after the recovery')
  for (const [index, send] of taken.entries()) {
    const earlier = taken.slice(0, index)
    if (earlier.some(({ sequence }) => sequence > send.sequence))
      problems.push(`sequence ${send.sequence} was sent after a later one`)
    const twin = earlier.findLast(({ sequence }) => sequence === send.sequence)
    const isCut = (from: Send) => cutsMs.some((atMs) => atMs >= from.beganMs - graceMs && atMs <= send.beganMs)
    if (twin && twin.isAnswered && !isCut(twin)) problems.push(`sequence ${send.sequence} was sent twice`)
  }
  return problems
}

/** A send may have begun this long before it is written down. */
const graceMs = 1_000

/** A target that refuses a message for good has been sent it. */
const checkLast = (sends: readonly Send[], openSequence: number | undefined, { lossesMs, sent }: Truth): string[] => {
  const taken = sends.filter((send) => send.taken)
  if (openSequence === undefined) {
    // That a target may know of a fire is lost with the store, unless the database knows too: it never answered, or its sender was killed.
    const isLost = (send: Send) => !sent.has(lineOf(send)) && lossesMs.some((atMs) => atMs >= send.beganMs)
    const mustEnd = taken.some((send) => !isEnd(send) && !isLost(send))
    return mustEnd && !sends.some(isEnd) ? ['a fire was taken and no recovery sent'] : []
  }
  if (sends.some(isEnd)) return ['a recovery was sent of what still fires']
  const isCurrent = sends.some(({ sequence }) => sequence >= openSequence)
  return isCurrent ? [] : [`the last notice, sequence ${openSequence}, was not sent`]
}
