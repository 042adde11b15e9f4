import { z } from 'zod'
import { Unit } from '#proto/catalogue.ts'
import { Severity } from '#proto/rules.ts'
import { type Clock, follow } from '#shared/clock.ts'

const Milliseconds = z.number().int()
const RuleId = z.string().max(160)

/** Why people are not told of something, though it is true. */
export const heldReasons = [
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
