import { z } from 'zod'
import type { Silence as SilenceRecord } from '#proto/alert-history.ts'
import { Unit } from '#proto/catalogue.ts'
import { Severity } from '#proto/rules.ts'
import { type Clock, follow } from '#shared/time/clock.ts'

const Milliseconds = z.number().int()
const RuleId = z.string().max(160)

/** Why people are not told of something, though it is true. */
const heldReasons = [
  'disabled',
  'maintenance',
  'quiet-hours',
  'severity',
  'host-unreachable',
  'acknowledged',
  'dismissed',
] as const
export type HeldReason = (typeof heldReasons)[number]

/** What an operator has said about an episode; a null end is its recovery. */
export const Silence = z.object({ untilMs: Milliseconds.nullable() })
export type Silence = z.infer<typeof Silence>

/**
 * One rule that is not ok on one host. It is `pending` until it has breached often enough, `firing` from then on, and `cleared`
 * when it was ok often enough but those who know of it could not be told yet.
 */
export const Condition = z.object({
  ruleId: RuleId,
  /** Names this time of being not ok; made by chance, so that no clock can repeat it. */
  episode: z.string().max(64),
  title: z.string().max(300),
  unit: Unit,
  runbook: z.string().max(4_000),
  phase: z.enum(['pending', 'firing', 'cleared']),
  severity: Severity,
  /** The worst it has been in this episode: to come back there takes the breaches again. */
  peak: Severity,
  /** Consecutive sweeps that were worse than `severity` or, while pending, not ok. */
  breaches: z.number().int().min(0),
  /** Consecutive sweeps that were ok. */
  clears: z.number().int().min(0),
  value: z.number().nullable(),
  threshold: z.number().nullable(),
  offenders: z.array(z.string().max(200)).max(5),
  sinceMs: Milliseconds,
  /** When the last sweep judged it; a sweep that could not tell leaves it. */
  judgedAtMs: Milliseconds,
  /** What people know: null while nobody was told. */
  told: z.object({ severity: Severity, atMs: Milliseconds }).nullable(),
  /** Of the next notice. */
  sequence: z.number().int().min(0),
  /** Why the notice that is due was not sent; null while none is due. */
  held: z.enum(heldReasons).nullable(),
  acknowledged: Silence.nullable(),
  dismissed: Silence.nullable(),
})
export type Condition = z.infer<typeof Condition>

/** What the last sweep that asked found for one rule. */
export const Check = z.object({
  status: z.enum(['ok', 'warning', 'critical', 'unknown']),
  value: z.number().nullable(),
  /** Why it is unknown, in words. */
  reason: z.string().max(300).nullable(),
  atMs: Milliseconds,
})
export type Check = z.infer<typeof Check>

/** More rules than there are, custom ones included. */
const mostRules = 500
const byRule = <S extends z.ZodType>(schema: S) =>
  z.record(RuleId, schema).refine((entries) => Object.keys(entries).length <= mostRules, `at most ${mostRules} rules`)

/** All that is kept of one host, under `hostRecordKey`: one value, so that one write decides a whole sweep of it. */
export const HostRecord = z.object({
  /** Of conditions that are not ok, or ok and not yet told. */
  conditions: byRule(Condition),
  checks: byRule(Check),
  /** What counters and slopes measured last, and the server's uptime with it. */
  counters: byRule(z.number()),
  uptimeSeconds: z.number().nullable(),
})
export type HostRecord = z.infer<typeof HostRecord>

/** A record whose instants keep their age when the clock is set; those that a person chose stay as they are. */
export const followed = <R extends Pick<HostRecord, 'conditions'>>(record: R, clock: Clock): R => ({
  ...record,
  conditions: Object.fromEntries(
    Object.entries(record.conditions).map(([id, condition]) => [id, followCondition(condition, clock)]),
  ),
})

/** One condition whose instants keep their age when the clock is set. */
export const followCondition = (condition: Condition, clock: Clock): Condition => ({
  ...condition,
  sinceMs: follow(clock, condition.sinceMs),
  judgedAtMs: follow(clock, condition.judgedAtMs),
  told: condition.told && { ...condition.told, atMs: follow(clock, condition.told.atMs) },
})

export const hostRecordKey = (hostKey: string): string => `alerts:host:${hostKey}`

/** One time of being not ok, as it is kept beyond the store of conditions. */
export interface Episode {
  hostKey: string
  /** As last written; all that is needed to go on with it. */
  condition: Condition
  /** Null while it lasts. */
  endedAtMs: number | null
}

/** Something that became of an episode: a line of the history. */
export interface Happening {
  id: string
  episode: string
  /** Null of an inbound event, which is about no host of the list. */
  hostKey: string | null
  ruleId: string
  title: string
  /** `held` is a notice that was due and not sent, told once for each reason; `lower` tells nobody. */
  kind: 'fire' | 'escalate' | 'lower' | 'remind' | 'recover' | 'held'
  severity: Severity
  value: number | null
  threshold: number | null
  sinceMs: number
  atMs: number
  /** Why, in words; of `held` one of `heldReasons`. */
  reason: string
}

/** What operators said about one episode. */
export interface Settled {
  episode: string
  acknowledged: Silence | null
  dismissed: Silence | null
}

/** Episodes and their history, for as long as the retention says; the state of conditions can be made again from it. */
export interface Episodes {
  /** Those that have not ended, as last written. */
  open(): Promise<readonly Episode[]>
  /** Those that ended since, as last written: the newest thousand. */
  ended(sinceMs: number): Promise<readonly Episode[]>
  /** Adds episodes or brings them up to date by their name, and adds to the history. */
  write(episodes: readonly Episode[], happenings: readonly Happening[]): Promise<void>
  /** What operators have said about episodes that have not ended. */
  settled(): Promise<readonly Settled[]>
}

type Said = Pick<SilenceRecord, 'kind' | 'episode' | 'ruleId'>

/** The record with what an operator says to an episode, or takes back; the same one when that episode is over. */
export const silenced = (
  record: HostRecord,
  { kind, episode, ruleId }: Said,
  silence: Pick<SilenceRecord, 'untilMs'> | null,
): HostRecord => {
  const condition = record.conditions[ruleId]
  if (condition?.episode !== episode) return record
  const said = silence && { untilMs: silence.untilMs }
  const changed = { ...condition, [kind === 'ack' ? 'acknowledged' : 'dismissed']: said }
  return { ...record, conditions: { ...record.conditions, [ruleId]: changed } }
}

type Silences = Pick<Condition, 'acknowledged' | 'dismissed'>

/** Whether the same is said to both. */
export const sameSilences = (one: Silences, other: Silences): boolean =>
  same(one.acknowledged, other.acknowledged) && same(one.dismissed, other.dismissed)

const same = (one: Condition['dismissed'], other: Condition['dismissed']): boolean =>
  one === null || other === null ? one === other : one.untilMs === other.untilMs
