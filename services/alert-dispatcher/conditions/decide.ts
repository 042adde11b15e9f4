import type { Check, Condition, HostRecord } from './condition.ts'
import type { Telling } from './held.ts'
import { type Measured, type Verdict, hasRestarted, judge } from './judge.ts'
import { type Told, happen, tell } from './tell.ts'
import { afterVerdict, withdrawn } from './transition.ts'
import type { Watched } from './watched.ts'

interface Deciding extends Telling {
  /** Every rule that is watched; a condition of another is withdrawn. */
  watched: readonly Watched[]
  /** Those of this sweep. */
  asked: readonly Watched[]
  measured: Measured
  newEpisode: () => string
}

/** What one sweep makes of one host. */
export interface Decision extends Omit<Told, 'conditions'> {
  record: HostRecord
  verdicts: Verdict[]
}

/** A record of a host nothing is known of yet. */
export const emptyRecord: HostRecord = { conditions: {}, checks: {}, counters: {}, uptimeSeconds: null }

/** Judges what was measured, moves the conditions, and tells what is due: pure, and safe to be made again. */
export const decide = (before: HostRecord | undefined, deciding: Deciding): Decision => {
  const { asked, measured, nowMs } = deciding
  const known = before ?? emptyRecord
  const verdicts = judge(asked, measured, before)
  const moved = moveAll(known.conditions, verdicts, deciding)
  const { conditions, ...told } = tell(moved, deciding)
  const lowered: Pick<Told, 'episodes' | 'happenings'> = { episodes: [], happenings: [] }
  for (const condition of Object.values(conditions)) {
    if (isLowered(known.conditions[condition.ruleId], condition))
      happen('lower', condition, 'it is less bad than it was', deciding, lowered)
  }
  return {
    ...told,
    episodes: [...lowered.episodes, ...told.episodes],
    happenings: [...lowered.happenings, ...told.happenings],
    verdicts,
    record: {
      conditions,
      checks: checksOf(known, verdicts, deciding.watched, nowMs),
      counters: countersOf(known, deciding),
      uptimeSeconds: measured.uptimeSeconds ?? known.uptimeSeconds,
    },
  }
}

const moveAll = (
  before: HostRecord['conditions'],
  verdicts: readonly Verdict[],
  { watched, nowMs, newEpisode }: Deciding,
): HostRecord['conditions'] => {
  const isWatched = new Set(watched.map(({ id }) => id))
  const kept = Object.values(before).map((condition) =>
    isWatched.has(condition.ruleId) ? condition : withdrawn(condition),
  )
  const after = new Map(kept.flatMap((condition) => (condition ? [[condition.ruleId, condition] as const] : [])))
  for (const verdict of verdicts) {
    const { id } = verdict.rule
    const next = afterVerdict(after.get(id), verdict, { nowMs, newEpisode })
    if (next) after.set(id, next)
    else after.delete(id)
  }
  return Object.fromEntries(after)
}

const isLowered = (before: Condition | undefined, after: Condition): boolean =>
  before?.phase === 'firing' && before.severity === 'critical' && after.severity === 'warning'

/** What this sweep found, beside what earlier ones did of rules that it did not ask. */
const checksOf = (
  known: HostRecord,
  verdicts: readonly Verdict[],
  watched: readonly Watched[],
  nowMs: number,
): HostRecord['checks'] => {
  const fresh = new Map<string, Check>(
    verdicts.map(({ rule, status, value, reason }) => [rule.id, { status, value, reason, atMs: nowMs }]),
  )
  return Object.fromEntries(
    watched.flatMap(({ id }) => {
      const check = fresh.get(id) ?? known.checks[id]
      return check ? [[id, check]] : []
    }),
  )
}

/** What counters said last; after a restart nothing from before it. */
const countersOf = (known: HostRecord, { watched, asked, measured }: Deciding): HostRecord['counters'] => {
  const isRestarted = hasRestarted(measured, known)
  const isAsked = new Set(asked.map(({ id }) => id))
  return Object.fromEntries(
    watched.flatMap(({ id, measure }) => {
      if (measure === 'gauge') return []
      const value =
        (isAsked.has(id) ? measured.readings.get(id)?.value : null) ?? (isRestarted ? null : known.counters[id])
      return value == null ? [] : [[id, value]]
    }),
  )
}
