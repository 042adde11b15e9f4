import type { RuleReading, Rule } from '#proto/rules.ts'
import type { Condition, HostRecord, Episode, Transition } from '../conditions/condition.ts'
import { evaluateHostSweep } from '../conditions/evaluate-host-sweep.ts'
import type { Notification } from '../notification.ts'
import type { Policy, NotificationRoute } from '../policy.ts'
import { type NotifyResult, collectDueNotifications } from '../conditions/notify.ts'
import { selectMonitoredRules } from '../conditions/monitored-rules.ts'
import { resolveSweepPlan } from '../sweeps/sweep-settings.ts'

/** The default policy, with alerting enabled and without digest. */
export const testPolicy: Policy = {
  enabled: true,
  minSeverity: 'warning',
  leastSeverity: 'warning',
  cooldownMs: 60 * 60_000,
  digestMs: 0,
  breaches: 1,
  clears: 2,
  sweeps: resolveSweepPlan({}),
  rules: {},
  channels: {},
  custom: [],
  sqlRules: [],
  maintenance: [],
  quietHours: [],
  routes: [],
  webhookTargets: [],
  subscriptions: [],
  chatApplications: [],
}

/** Returns a route for all alerts to the target `webhook`. */
export const createTestRoute = (more: Partial<NotificationRoute> = {}): NotificationRoute => ({
  id: 'r',
  matchRule: '*',
  matchHost: '*',
  matchGroup: '*',
  matchTag: '*',
  matchSeverity: '*',
  target: 'webhook',
  enabled: true,
  minSeverity: null,
  last: false,
  ...more,
})

/** Returns a gauge rule with the thresholds 80 and 90. */
export const createTestRule = (more: Partial<Rule> & { id: string }): Rule => ({
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

/** Returns a reading; if the value is null, it has a reason. */
export const createTestReading = (id: string, value: number | null, more: Partial<RuleReading> = {}): RuleReading => ({
  id,
  value,
  reason: value === null ? 'the table is missing' : null,
  incomplete: null,
  samples: null,
  warning: null,
  critical: null,
  offenders: [],
  ...more,
})

/** Measured values by rule; missing rules have no data. */
export type ValuesByRule = Readonly<Record<string, number | null>>

/** State of one simulated host: its rules, clock, record and notifications. Tests change fields between sweeps. */
export interface SimulatedHost {
  rules: readonly Rule[]
  policy: Policy
  nowMs: number
  record: HostRecord | undefined
  episodesStarted: number
  notifications: Notification[]
  transitions: Transition[]
  episodes: Episode[]
  /** Reasons of the notifications that the last step held. */
  held: string[]
}

/** Returns a host without conditions. */
export const createSimulatedHost = (rules: readonly Rule[], overrides: Partial<Policy> = {}): SimulatedHost => ({
  rules,
  policy: { ...testPolicy, ...overrides },
  nowMs: Date.UTC(2026, 0, 5, 12),
  record: undefined,
  episodesStarted: 0,
  notifications: [],
  transitions: [],
  episodes: [],
  held: [],
})

const hostKey = 'db'
const minuteMs = 60_000

/** Properties of a sweep other than the measured values. */
interface Sweep {
  uptimeSeconds?: number | null
  afterMinutes?: number
  /** Offenders of every rule. */
  offenders?: readonly string[]
}

/** Runs a sweep, by default five minutes after the last step; returns notifications such as `fire disk critical`. */
export const sweepOnce = (
  story: SimulatedHost,
  values: ValuesByRule,
  { uptimeSeconds = 1_000, afterMinutes = 5, offenders = [] }: Sweep = {},
): string[] => {
  story.nowMs += afterMinutes * minuteMs
  const { policy, nowMs } = story
  const watched = selectMonitoredRules({ rules: story.rules, metrics: [] }, policy)
  const readings = new Map(
    watched.map(({ id }) => [id, createTestReading(id, values[id] ?? null, { offenders: [...offenders] })]),
  )
  const measured = { readings, metrics: new Map(), uptimeSeconds }
  const newEpisode = () => `episode-${++story.episodesStarted}`
  const deciding = { hostKey, policy, nowMs, watched, dueRules: watched, measured, newEpisode }
  const decision = evaluateHostSweep(story.record, deciding)
  story.record = decision.record
  return applyResult(story, decision)
}

/** Runs a tick after the given minutes; returns notifications like `sweepOnce`. */
export const tickOnce = (story: SimulatedHost, afterMinutes: number): string[] => {
  story.nowMs += afterMinutes * minuteMs
  const { record, policy, nowMs } = story
  if (!record) return []
  const notified = collectDueNotifications(record.conditions, { hostKey, policy, nowMs })
  story.record = { ...record, conditions: notified.conditions }
  return applyResult(story, notified)
}

/** Sets acknowledgement or dismissal of a condition. */
export const setSilence = (
  { record }: SimulatedHost,
  ruleId: string,
  silences: Partial<Pick<Condition, 'acknowledged' | 'dismissed'>>,
): void => {
  const condition = record?.conditions[ruleId]
  if (!record || !condition) throw new Error(`no condition for rule ${ruleId}`)
  record.conditions[ruleId] = { ...condition, ...silences }
}

const applyResult = (
  story: SimulatedHost,
  notified: Pick<NotifyResult, 'notifications' | 'transitions' | 'episodes' | 'held'>,
): string[] => {
  story.notifications.push(...notified.notifications)
  story.transitions.push(...notified.transitions)
  story.episodes.push(...notified.episodes)
  story.held = Object.keys(notified.held)
  return notified.notifications.map(({ kind, ruleId, severity }) => `${kind} ${ruleId} ${severity}`)
}
