import type { SendAttempt } from './fake-targets.ts'

/** The actions, sends and violated invariants of one simulated sequence of events and faults. */
export interface ScheduleOutcome {
  /** All actions and faults, in order. */
  log: readonly string[]
  /** Violated invariants. */
  problems: readonly string[]
  sends: number
}

/** The state of a schedule after all events were accepted and delivered, with the times of its faults. */
export interface FinalState {
  /** Open episodes with the sequence number of their last notification. */
  open: ReadonlyMap<string, number>
  targets: readonly string[]
  /** Times at which a process was killed or a store lost data. Sends in progress at these times may be repeated. */
  cutsMs: number[]
  /** Times at which a store lost data. */
  lossesMs: number[]
  /** Keys of the notifications that the database records as sent. */
  sent: ReadonlySet<string>
  /** Times at which a connection was cut. The store may then record a send as started although it never began. */
  unknownMs: number[]
}

/** Checks the invariants in the README of `delivery/` for each target and episode. Returns the violations. */
export const checkSends = (sends: readonly SendAttempt[], truth: FinalState): string[] => {
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

/** Returns the key of a notification to one target: target, episode and sequence number. */
export const createSendKey = ({
  target,
  episode,
  sequence,
}: Pick<SendAttempt, 'target' | 'episode' | 'sequence'>): string => `${target} ${episode} ${sequence}`

const isEnd = ({ kind }: SendAttempt): boolean => kind === 'recover'

const checkOrder = (sends: readonly SendAttempt[], { cutsMs, unknownMs }: FinalState): string[] => {
  const problems: string[] = []
  const taken = sends.filter((send) => send.taken)
  const [first] = sends
  // A killed or disconnected process may have sent the alert, so the recovery is sent in any case.
  if (first && isEnd(first) && ![...cutsMs, ...unknownMs].some((atMs) => atMs <= first.beganMs))
    problems.push('a recovery was sent without a preceding alert')
  const end = taken.findIndex(isEnd)
  if (end >= 0 && taken.slice(end).some((send) => !isEnd(send))) problems.push('a notification followed the recovery')
  for (const [index, send] of taken.entries()) {
    const earlier = taken.slice(0, index)
    if (earlier.some(({ sequence }) => sequence > send.sequence))
      problems.push(`sequence ${send.sequence} was sent after a later one`)
    const twin = earlier.findLast(({ sequence }) => sequence === send.sequence)
    const isCut = (from: SendAttempt) => cutsMs.some((atMs) => atMs >= from.beganMs - graceMs && atMs <= send.beganMs)
    if (twin && twin.isAnswered && !isCut(twin)) problems.push(`sequence ${send.sequence} was sent twice`)
  }
  return problems
}

/** Maximum time between the start of a send and its record in the database, in milliseconds. */
const graceMs = 1_000

/**
 * Returns a violation unless an open episode has its last notification and no recovery, and a closed one its recovery.
 * Permanently rejected messages count as sent.
 */
const checkLast = (
  sends: readonly SendAttempt[],
  openSequence: number | undefined,
  { lossesMs, sent }: FinalState,
): string[] => {
  const taken = sends.filter((send) => send.taken)
  if (openSequence === undefined) {
    // If a send has no result, only the store records that the target may have received the alert. A flush deletes
    // this record.
    const isLost = (send: SendAttempt) =>
      !sent.has(createSendKey(send)) && lossesMs.some((atMs) => atMs >= send.beganMs)
    const mustEnd = taken.some((send) => !isEnd(send) && !isLost(send))
    return mustEnd && !sends.some(isEnd) ? ['a target accepted an alert, but no recovery was sent'] : []
  }
  if (sends.some(isEnd)) return ['a recovery was sent of what still fires']
  const isCurrent = sends.some(({ sequence }) => sequence >= openSequence)
  return isCurrent ? [] : [`the last notice, sequence ${openSequence}, was not sent`]
}
