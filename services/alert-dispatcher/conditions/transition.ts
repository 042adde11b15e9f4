import type { Condition } from './condition.ts'
import type { Verdict } from './judge.ts'
import { worse } from './watched.ts'

interface Now {
  nowMs: number
  newEpisode: () => string
}

/** The condition after one more verdict; undefined is ok. An unknown one moves nothing. */
export const afterVerdict = (before: Condition | undefined, verdict: Verdict, now: Now): Condition | undefined => {
  if (verdict.status === 'unknown') return before
  if (verdict.status === 'ok') return before && afterOk(before, verdict, now)
  if (before === undefined || before.phase === 'pending') return risen(before ?? begun(verdict, now), verdict, now)
  return stillBreached(before, verdict, now)
}

/** What it would recover from goes on being told; what nobody waits for is dropped by its teller. */
export const withdrawn = (before: Condition): Condition | undefined =>
  before.phase === 'pending' ? undefined : { ...before, phase: 'cleared', clears: 0, breaches: 0 }

const begun = ({ rule: { id, title, unit, runbook } }: Verdict, { nowMs, newEpisode }: Now): Condition => ({
  ruleId: id,
  episode: newEpisode(),
  title,
  unit,
  runbook,
  phase: 'pending',
  severity: 'warning',
  peak: 'warning',
  breaches: 0,
  clears: 0,
  value: null,
  threshold: null,
  offenders: [],
  sinceMs: nowMs,
  judgedAtMs: nowMs,
  told: null,
  sequence: 0,
  held: null,
  acknowledged: null,
  dismissed: null,
})

/** Fires with what it is by then, once it has breached often enough. */
const risen = (before: Condition, verdict: Verdict, now: Now): Condition => {
  const breaches = before.breaches + 1
  const severity = verdict.status === 'critical' ? 'critical' : 'warning'
  const seen = { ...measured(before, verdict, now), severity, peak: severity } as const
  return breaches < verdict.rule.breaches ? { ...seen, breaches } : { ...seen, phase: 'firing', breaches: 0 }
}

const afterOk = (before: Condition, verdict: Verdict, now: Now): Condition | undefined => {
  if (before.phase === 'pending') return undefined
  const seen = { ...measured(before, verdict, now), offenders: before.offenders, breaches: 0 }
  const clears = before.clears + 1
  return { ...seen, clears, phase: clears >= verdict.rule.clears ? 'cleared' : before.phase }
}

/** Rises at once to what it has not been yet, again only after the breaches; sinks at once. */
const stillBreached = (before: Condition, verdict: Verdict, now: Now): Condition => {
  const seen = { ...measured(before, verdict, now), phase: 'firing', clears: 0 } as const
  if (verdict.status === 'warning') {
    const told = before.told && { ...before.told, severity: 'warning' as const }
    return { ...seen, severity: 'warning', told, breaches: 0 }
  }
  const breaches = before.severity === 'critical' ? 0 : before.breaches + 1
  if (before.peak === 'critical' && breaches > 0 && breaches < verdict.rule.breaches) return { ...seen, breaches }
  return { ...seen, severity: 'critical', peak: worse(before.peak, 'critical'), breaches: 0 }
}

const measured = (before: Condition, { rule, value, threshold, offenders }: Verdict, { nowMs }: Now): Condition => ({
  ...before,
  title: rule.title,
  unit: rule.unit,
  runbook: rule.runbook,
  value,
  threshold,
  offenders,
  judgedAtMs: nowMs,
})
