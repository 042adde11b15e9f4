import { z } from 'zod'
import type { Silence as SilenceRecord } from '#proto/alert-history.ts'
import { Unit } from '#proto/catalogue.ts'
import { Severity } from '#proto/rules.ts'
import { type Clock, adjustForClockJumps } from '#shared/time/clock.ts'

const Milliseconds = z.number().int()
const RuleId = z.string().max(160)

/** Reasons for holding a due notification. */
const heldReasons = [
  'disabled',
  'maintenance',
  'quiet-hours',
  'severity',
  'host-unreachable',
  'acknowledged',
  'dismissed',
] as const
export type HoldReason = (typeof heldReasons)[number]

/** An acknowledgement or dismissal of an episode. It ends at `untilMs`; null means at the recovery. */
export const ConditionSilence = z.object({ untilMs: Milliseconds.nullable() })
export type ConditionSilence = z.infer<typeof ConditionSilence>

/**
 * State of a rule that is not ok on one host. It is `pending` until it has breached often enough, then `firing`.
 * `cleared` means ok, but the recovery notification is still held.
 */
export const Condition = z.object({
  ruleId: RuleId,
  /** Id of the episode; random, so that it never repeats, even when the clock is set back. */
  episode: z.string().max(64),
  title: z.string().max(300),
  unit: Unit,
  runbook: z.string().max(4_000),
  phase: z.enum(['pending', 'firing', 'cleared']),
  severity: Severity,
  /** The highest severity of this episode. Returning to it requires the configured number of breaches again. */
  peak: Severity,
  /** Number of consecutive sweeps with a higher severity than `severity` or, while pending, with any breach. */
  breaches: z.number().int().min(0),
  /** Number of consecutive ok sweeps. */
  clears: z.number().int().min(0),
  value: z.number().nullable(),
  threshold: z.number().nullable(),
  offenders: z.array(z.string().max(200)).max(5),
  sinceMs: Milliseconds,
  /** When a sweep last evaluated the condition; sweeps without data leave the time unchanged. */
  evaluatedAtMs: Milliseconds,
  /** The last notification that was sent; null before the first. */
  lastNotification: z.object({ severity: Severity, atMs: Milliseconds }).nullable(),
  /** Sequence number of the next notification. */
  sequence: z.number().int().min(0),
  /** Why the due notification was not sent; null if none is due. */
  held: z.enum(heldReasons).nullable(),
  acknowledged: ConditionSilence.nullable(),
  dismissed: ConditionSilence.nullable(),
})
export type Condition = z.infer<typeof Condition>

/** Result of the last sweep that evaluated a rule. */
export const RuleCheck = z.object({
  status: z.enum(['ok', 'warning', 'critical', 'unknown']),
  value: z.number().nullable(),
  /** Why there is no data, as a sentence. */
  reason: z.string().max(300).nullable(),
  atMs: Milliseconds,
})
export type RuleCheck = z.infer<typeof RuleCheck>

/** Maximum number of rules in a record; higher than the number of built-in and custom rules. */
const maxRules = 500
const recordByRule = <S extends z.ZodType>(schema: S) =>
  z.record(RuleId, schema).refine((entries) => Object.keys(entries).length <= maxRules, `at most ${maxRules} rules`)

/** The stored state of one host under `getHostRecordKey`, written as one value per sweep. */
export const HostRecord = z.object({
  /** Conditions that are not ok, or whose recovery notification is still held. */
  conditions: recordByRule(Condition),
  checks: recordByRule(RuleCheck),
  /** Last values of counters and slopes, by rule id. */
  counters: recordByRule(z.number()),
  /** Uptime of the server at the last measurement; null before the first measurement. */
  uptimeSeconds: z.number().nullable(),
})
export type HostRecord = z.infer<typeof HostRecord>

/** Adjusts the timestamps of a record if the system clock was set since. Times chosen by users stay unchanged. */
export const adjustHostRecord = <R extends Pick<HostRecord, 'conditions'>>(record: R, clock: Clock): R => ({
  ...record,
  conditions: Object.fromEntries(
    Object.entries(record.conditions).map(([id, condition]) => [id, adjustCondition(condition, clock)]),
  ),
})

/** Adjusts the timestamps of one condition if the system clock was set since. */
export const adjustCondition = (condition: Condition, clock: Clock): Condition => ({
  ...condition,
  sinceMs: adjustForClockJumps(clock, condition.sinceMs),
  evaluatedAtMs: adjustForClockJumps(clock, condition.evaluatedAtMs),
  lastNotification: condition.lastNotification && {
    ...condition.lastNotification,
    atMs: adjustForClockJumps(clock, condition.lastNotification.atMs),
  },
})

export const getHostRecordKey = (hostKey: string): string => `alerts:host:${hostKey}`

/** One activation of a condition, as the state database stores it. */
export interface Episode {
  hostKey: string
  /** The last written state, from which the episode can be restored. */
  condition: Condition
  /** Null while the episode is open. */
  endedAtMs: number | null
}

/** A transition of an episode: one entry of the alert history. */
export interface Transition {
  id: string
  episode: string
  /** Null for an inbound event, which concerns no listed host. */
  hostKey: string | null
  ruleId: string
  title: string
  /** `held` records a due notification that was not sent, once per reason. `lower` sends no notification. */
  kind: 'fire' | 'escalate' | 'lower' | 'remind' | 'recover' | 'held'
  severity: Severity
  value: number | null
  threshold: number | null
  sinceMs: number
  atMs: number
  /** The cause as a sentence; for `held`, one of `heldReasons`. */
  reason: string
}

/** Acknowledgement and dismissal of one episode. */
export interface EpisodeSilences {
  episode: string
  acknowledged: ConditionSilence | null
  dismissed: ConditionSilence | null
}

/** Episodes and their history, kept for the configured retention. Conditions can be restored from them. */
export interface Episodes {
  /** Returns open episodes in their last written state. */
  open(): Promise<readonly Episode[]>
  /** Returns the newest thousand episodes that ended since the given time. */
  ended(sinceMs: number): Promise<readonly Episode[]>
  /** Inserts or updates episodes and appends history entries. */
  write(episodes: readonly Episode[], transitions: readonly Transition[]): Promise<void>
  /** Returns acknowledgements and dismissals of open episodes. */
  storedSilences(): Promise<readonly EpisodeSilences[]>
}

type SilenceKey = Pick<SilenceRecord, 'kind' | 'episode' | 'ruleId'>

/** Returns the record with an acknowledgement or dismissal set or cleared; the same record if the episode has ended. */
export const setConditionSilence = (
  record: HostRecord,
  { kind, episode, ruleId }: SilenceKey,
  silence: Pick<SilenceRecord, 'untilMs'> | null,
): HostRecord => {
  const condition = record.conditions[ruleId]
  if (condition?.episode !== episode) return record
  const stored = silence && { untilMs: silence.untilMs }
  const changed = { ...condition, [kind === 'ack' ? 'acknowledged' : 'dismissed']: stored }
  return { ...record, conditions: { ...record.conditions, [ruleId]: changed } }
}

type Silences = Pick<Condition, 'acknowledged' | 'dismissed'>

/** Returns whether both have the same acknowledgement and dismissal. */
export const hasSameSilences = (one: Silences, other: Silences): boolean =>
  isSameSilence(one.acknowledged, other.acknowledged) && isSameSilence(one.dismissed, other.dismissed)

const isSameSilence = (one: Condition['dismissed'], other: Condition['dismissed']): boolean =>
  one === null || other === null ? one === other : one.untilMs === other.untilMs
