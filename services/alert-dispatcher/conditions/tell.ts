import type { Condition, HeldReason, HostRecord, Episode, Happening } from './condition.ts'
import { type Due, type Telling, dueOf, heldBy, isMuted } from './held.ts'
import type { Notice } from '../notice.ts'

/** What is told about one host now, and what it leaves. */
export interface Told {
  conditions: HostRecord['conditions']
  notices: Notice[]
  /** Notices that are due and not told, by why. */
  held: Partial<Record<HeldReason, number>>
  /** Episodes that something became of, and what. */
  episodes: Episode[]
  happenings: Happening[]
}

/** Tells what is due and may be told. What is held is due again each time, until it is told or no longer true. */
export const tell = (conditions: HostRecord['conditions'], telling: Telling): Told => {
  const told: Told = { conditions: {}, notices: [], held: {}, episodes: [], happenings: [] }
  for (const condition of Object.values(conditions)) {
    tellOne(onThisClock(condition, telling.nowMs), isMuted(condition.ruleId, conditions), telling, told)
  }
  return told
}

/** A clock that was set back must neither put off reminders nor make an episode begin after its end. */
const onThisClock = (condition: Condition, nowMs: number): Condition => ({
  ...condition,
  sinceMs: Math.min(condition.sinceMs, nowMs),
  told: condition.told && { ...condition.told, atMs: Math.min(condition.told.atMs, nowMs) },
})

const tellOne = (condition: Condition, isMuted: boolean, telling: Telling, into: Told): void => {
  const due = dueOf(condition, telling)
  if (due === null) return keep({ ...condition, held: null }, into)
  if (due === 'recover' && condition.told === null) return end(condition, 'nobody had been told', telling, into)
  const held = heldBy(due, condition, isMuted, telling)
  if (held !== null) return hold(condition, held, telling, into)
  const reason = reasonOf(due, condition, telling)
  into.notices.push(noticeOf(due, condition, reason, telling))
  if (due === 'recover') return end(condition, reason, telling, into)
  const { severity } = condition
  const next = { ...condition, told: { severity, atMs: telling.nowMs }, sequence: condition.sequence + 1, held: null }
  happen(due, next, reason, telling, into)
  keep(next, into)
}

const keep = (condition: Condition, { conditions }: Told): void => {
  conditions[condition.ruleId] = condition
}

const hold = (condition: Condition, reason: HeldReason, telling: Telling, into: Told): void => {
  into.held[reason] = (into.held[reason] ?? 0) + 1
  const next = { ...condition, held: reason }
  if (condition.held !== reason) happen('held', next, reason, telling, into)
  keep(next, into)
}

const end = (condition: Condition, reason: string, telling: Telling, into: Told): void => {
  happen('recover', afterEnd(condition), reason, telling, into, telling.nowMs)
}

/** A condition as the notice of its end leaves it. */
export const afterEnd = (condition: Condition): Condition => ({ ...condition, sequence: condition.sequence + 1 })

/**
 * The last notice of an episode of which people were told, for when the state store lost who took it; undefined where there is none, or
 * its end is held.
 */
export const lastNotice = (
  condition: Condition,
  endedAtMs: number | null,
  telling: Pick<Telling, 'hostKey' | 'nowMs'>,
): Notice | undefined => {
  const isOver = endedAtMs !== null
  // Of what has ended it is on record who was told.
  const isTold = isOver || (condition.told !== null && condition.phase === 'firing')
  if (!isTold || condition.sequence === 0) return undefined
  const last = { ...condition, sequence: condition.sequence - 1 }
  const reason = isOver ? 'it has ended' : 'it still fires'
  return { ...noticeOf(isOver ? 'recover' : 'fire', last, reason, telling), isAgain: true }
}

/** Adds a line to the history, and what the episode has become by it. */
export const happen = (
  kind: Happening['kind'],
  condition: Condition,
  reason: string,
  { hostKey, nowMs }: Pick<Telling, 'hostKey' | 'nowMs'>,
  into: Pick<Told, 'episodes' | 'happenings'>,
  endedAtMs: number | null = null,
): void => {
  const { episode, sequence } = condition
  into.episodes.push({ hostKey, condition, endedAtMs })
  into.happenings.push({
    // The same step made twice writes the same line.
    id: `${episode}:${kind}:${sequence}:${nowMs}`,
    ...factsOf(condition),
    hostKey,
    kind,
    atMs: nowMs,
    reason,
  })
}

const noticeOf = (
  kind: Due,
  condition: Condition,
  reason: string,
  { hostKey, nowMs }: Pick<Telling, 'hostKey' | 'nowMs'>,
): Notice => {
  const { episode, sequence, unit, offenders, runbook, peak } = condition
  const facts = factsOf(condition)
  return {
    ...facts,
    id: `${episode}:${sequence}`,
    kind,
    sequence,
    hostKey,
    source: null,
    // A recovery is judged by the worst that it recovers from.
    severity: kind === 'recover' ? peak : facts.severity,
    ...(kind === 'recover' && condition.clears === 0 && { isUnseen: true }),
    unit,
    // What was worst is so no longer, and would be read as if it were.
    offenders: kind === 'recover' ? [] : offenders,
    runbook,
    atMs: nowMs,
    reason,
    gathered: [],
  }
}

const factsOf = ({ episode, ruleId, title, severity, value, threshold, sinceMs }: Condition) => ({
  episode,
  ruleId,
  title,
  severity,
  value,
  threshold,
  sinceMs,
})

const reasonOf = (due: Due, condition: Condition, { nowMs }: Telling): string => {
  const { held, clears, told } = condition
  if (due === 'recover') return clears > 0 ? `ok on ${sweeps(clears)} in a row` : 'it is no longer watched'
  if (due === 'remind') return `still so ${minutes(nowMs - (told?.atMs ?? nowMs))} after it was told last`
  const cause = due === 'fire' ? 'it has reached its threshold' : 'it has become worse'
  return heldUntilNow(cause, held)
}

/** Why it is told, and in words why not before. */
export const heldUntilNow = (cause: string, held: HeldReason | null): string =>
  held === null ? cause : `${cause}; it was held until now: ${heldWords[held]}`

const heldWords: Readonly<Record<HeldReason, string>> = {
  disabled: 'alerts were switched off',
  maintenance: 'maintenance',
  'quiet-hours': 'quiet hours',
  severity: 'it was below the severity that people are told of',
  'host-unreachable': 'the host did not answer',
  acknowledged: 'it was acknowledged',
  dismissed: 'it was dismissed',
}

const sweeps = (count: number): string => (count === 1 ? '1 sweep' : `${count} sweeps`)

const minutes = (lengthMs: number): string => `${Math.round(lengthMs / 60_000)} min`
