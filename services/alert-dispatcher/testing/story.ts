import type { Reading, Rule } from '#proto/rules.ts'
import type { Condition, HostRecord, Episode, Happening } from '../conditions/condition.ts'
import { decide } from '../conditions/decide.ts'
import type { Notice } from '../notice.ts'
import type { Policy } from '../policy.ts'
import { type Told, tell } from '../conditions/tell.ts'
import { watchedRules } from '../conditions/watched.ts'

/** What holds where nobody has settled anything, told without delay. */
export const plainPolicy: Policy = {
  enabled: true,
  minSeverity: 'warning',
  leastSeverity: 'warning',
  cooldownMs: 60 * 60_000,
  digestMs: 0,
  breaches: 1,
  clears: 2,
  rules: {},
  channels: {},
  custom: [],
  maintenance: [],
  quietHours: [],
  routes: [],
  webhookTargets: [],
  subscriptions: [],
  chatApplications: [],
}

/** A gauge that breaches at 80 and 90. */
export const plainRule = (more: Partial<Rule> & { id: string }): Rule => ({
  title: more.id,
  doc: 'A rule of a test.',
  category: 'tests',
  unit: 'percent',
  measure: 'gauge',
  thresholds: { warning: 80, critical: 90, below: false },
  clearRatio: 1,
  minimumSamples: null,
  breaches: null,
  clears: null,
  everySweeps: 1,
  enabled: true,
  once: false,
  allOf: [],
  runbook: '',
  diagnosed: false,
  ...more,
})

export const plainReading = (id: string, value: number | null, more: Partial<Reading> = {}): Reading => ({
  id,
  value,
  reason: value === null ? 'the table is missing' : null,
  samples: null,
  warning: null,
  critical: null,
  offenders: [],
  ...more,
})

/** What is measured of rules; one that is not named is unknown. */
export type Values = Readonly<Record<string, number | null>>

/** One host on a clock of its own, and all that was told about it. Tests change what they like between sweeps. */
export interface Story {
  rules: readonly Rule[]
  policy: Policy
  nowMs: number
  record: HostRecord | undefined
  begun: number
  notices: Notice[]
  happenings: Happening[]
  episodes: Episode[]
  /** Why notices were held the last time. */
  held: string[]
}

export const newStory = (rules: readonly Rule[], settled: Partial<Policy> = {}): Story => ({
  rules,
  policy: { ...plainPolicy, ...settled },
  nowMs: Date.UTC(2026, 0, 5, 12),
  record: undefined,
  begun: 0,
  notices: [],
  happenings: [],
  episodes: [],
  held: [],
})

const hostKey = 'db'
const minuteMs = 60_000

/** What a sweep has besides the values. */
interface Sweep {
  uptimeSeconds?: number | null
  afterMinutes?: number
  /** Of each rule. */
  offenders?: readonly string[]
}

/** A sweep five minutes after what came before. What it tells reads as `fire disk critical`. */
export const sweepOnce = (
  story: Story,
  values: Values,
  { uptimeSeconds = 1_000, afterMinutes = 5, offenders = [] }: Sweep = {},
): string[] => {
  story.nowMs += afterMinutes * minuteMs
  const { policy, nowMs } = story
  const watched = watchedRules({ rules: story.rules, metrics: [] }, policy)
  const readings = new Map(
    watched.map(({ id }) => [id, plainReading(id, values[id] ?? null, { offenders: [...offenders] })]),
  )
  const measured = { readings, metrics: new Map(), uptimeSeconds }
  const newEpisode = () => `episode-${++story.begun}`
  const deciding = { hostKey, policy, nowMs, watched, asked: watched, measured, newEpisode }
  const decision = decide(story.record, deciding)
  story.record = decision.record
  return take(story, decision)
}

/** A tick so many minutes after what came before, told as by `sweepOnce`. */
export const tickOnce = (story: Story, afterMinutes: number): string[] => {
  story.nowMs += afterMinutes * minuteMs
  const { record, policy, nowMs } = story
  if (!record) return []
  const told = tell(record.conditions, { hostKey, policy, nowMs })
  story.record = { ...record, conditions: told.conditions }
  return take(story, told)
}

/** What an operator says about a condition. */
export const say = (
  { record }: Story,
  ruleId: string,
  said: Partial<Pick<Condition, 'acknowledged' | 'dismissed'>>,
): void => {
  const condition = record?.conditions[ruleId]
  if (!record || !condition) throw new Error(`there is no condition of ${ruleId}`)
  record.conditions[ruleId] = { ...condition, ...said }
}

const take = (story: Story, told: Pick<Told, 'notices' | 'happenings' | 'episodes' | 'held'>): string[] => {
  story.notices.push(...told.notices)
  story.happenings.push(...told.happenings)
  story.episodes.push(...told.episodes)
  story.held = Object.keys(told.held)
  return told.notices.map(({ kind, ruleId, severity }) => `${kind} ${ruleId} ${severity}`)
}
