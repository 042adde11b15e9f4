import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Notification } from '../notification.ts'
import type { Policy } from '../policy.ts'
import {
  type SimulatedHost,
  type ValuesByRule,
  createSimulatedHost,
  createTestRule,
  setSilence,
  sweepOnce,
  tickOnce,
} from '../testing/simulated-host.ts'

const rules = [
  createTestRule({ id: 'disk', clearRatio: 0.8 }),
  createTestRule({ id: 'memory' }),
  createTestRule({ id: 'errors', measure: 'counter', thresholds: { warning: 1, critical: 10, below: false } }),
  createTestRule({ id: 'host-unreachable', thresholds: { warning: null, critical: 1, below: false } }),
]

const level = fc.option(fc.integer({ min: 0, max: 100 }), { nil: null, freq: 6 })
const overrides: fc.Arbitrary<Partial<Policy>> = fc.record(
  {
    enabled: fc.boolean(),
    minSeverity: fc.constantFrom('warning' as const, 'critical' as const),
    cooldownMs: fc.constantFrom(0, 300_000, 3_600_000),
    breaches: fc.integer({ min: 1, max: 3 }),
    clears: fc.integer({ min: 1, max: 3 }),
    maintenance: fc.constantFrom<Policy['maintenance'][]>(
      [],
      [{ id: 'all', hostKey: null, reason: '', startsAtMs: 0, endsAtMs: Number.MAX_SAFE_INTEGER }],
    ),
    quietHours: fc.constantFrom<Policy['quietHours'][]>(
      [],
      [{ id: 'noon', days: [1, 2], start: '12:00', end: '14:00', timezone: 'UTC', severityCap: null }],
    ),
    rules: fc.constantFrom<Policy['rules'][]>(
      {},
      { disk: { enabled: false } },
      { memory: { minSeverity: 'critical' } },
    ),
  },
  { requiredKeys: [] },
)
const until = fc.constantFrom({ untilMs: null }, { untilMs: 0 }, null)
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('sweep'),
      values: fc.tuple(level, level, level),
      down: fc.constantFrom(0, 0, 0, 1),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('tick'), minutes: fc.integer({ min: 0, max: 120 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('configure'), overrides }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('silence'), acknowledged: until, dismissed: until }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('jump'), minutes: fc.integer({ min: -5_000, max: 5_000 }) }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const make = (story: SimulatedHost, step: Step): void => {
  if ('values' in step) {
    const [disk, memory, errors] = step.values
    const values: ValuesByRule = step.down ? { 'host-unreachable': 1 } : { disk, memory, errors, 'host-unreachable': 0 }
    sweepOnce(story, values, { uptimeSeconds: step.down ? null : 1_000 })
  } else if ('overrides' in step) story.policy = { ...story.policy, ...step.overrides }
  else if ('acknowledged' in step) {
    const { acknowledged, dismissed } = step
    for (const ruleId of Object.keys(story.record?.conditions ?? {}))
      setSilence(story, ruleId, { acknowledged, dismissed })
  } else if (step.kind === 'tick') tickOnce(story, step.minutes)
  else story.nowMs += step.minutes * 60_000
}

const notified = (steps: readonly Step[], policy: Partial<Policy>): SimulatedHost => {
  const story = createSimulatedHost(rules, policy)
  for (const each of steps) make(story, each)
  return story
}

const checkAlways = (check: (story: SimulatedHost) => void) =>
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), overrides, (steps, policy) => check(notified(steps, policy))),
    { numRuns: 300 },
  )

const episodesOf = (story: SimulatedHost): Notification[][] => [
  ...Map.groupBy(story.notifications, ({ episode }) => episode).values(),
]

describe('for any sequence of sweeps', () => {
  it('an episode starts with one alert and ends with its recovery', () => {
    checkAlways((story) => {
      for (const notifications of episodesOf(story)) {
        const kinds = notifications.map(({ kind }) => kind)
        expect(kinds.indexOf('fire')).toBe(0)
        expect(kinds.lastIndexOf('fire')).toBe(0)
        expect([-1, kinds.length - 1]).toContain(kinds.indexOf('recover'))
      }
    })
  })

  it('the sequence of an episode increases by one, and ids are unique', () => {
    checkAlways((story) => {
      for (const notifications of episodesOf(story))
        expect(notifications.map(({ sequence }) => sequence)).toEqual([...notifications.keys()])
      expect(new Set(story.notifications.map(({ id }) => id)).size).toBe(story.notifications.length)
    })
  })

  it('an episode belongs to one rule, and a rule has at most one open episode', () => {
    checkAlways((story) => {
      for (const notifications of episodesOf(story))
        expect(new Set(notifications.map(({ ruleId }) => ruleId)).size).toBe(1)
      const open = Object.values(story.record?.conditions ?? {}).map(({ episode }) => episode)
      expect(new Set(open).size).toBe(open.length)
    })
  })

  it('the record contains the last notification of each condition', () => {
    checkAlways((story) => {
      for (const { episode, lastNotification, sequence } of Object.values(story.record?.conditions ?? {})) {
        const notifications = story.notifications.filter((notification) => notification.episode === episode)
        expect([lastNotification !== null, sequence]).toEqual([notifications.length > 0, notifications.length])
      }
    })
  })

  it('a repeated sweep with the same values sends nothing', () => {
    checkAlways((story) => {
      // `errors` has no data: a counter with the same value has not increased, so its condition would recover.
      const values = { disk: 95, memory: 95, errors: null, 'host-unreachable': 0 }
      const policy = { ...story.policy, breaches: 1, clears: 1 }
      story.policy = policy
      sweepOnce(story, values)
      expect(sweepOnce(story, values, { afterMinutes: 0 })).toEqual([])
    })
  })

  it('every notified episode gets a recovery once it is ok and not held', () => {
    checkAlways((story) => {
      story.policy = { ...story.policy, enabled: true, maintenance: [] }
      for (let sweep = 0; sweep < 4; sweep++) sweepOnce(story, { disk: 0, memory: 0, errors: 0, 'host-unreachable': 0 })
      expect(story.record?.conditions).toEqual({})
      for (const notifications of episodesOf(story)) expect(notifications.at(-1)?.kind).toBe('recover')
    })
  })

  it('nothing is sent while notifications are paused', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const unpaused = steps.map((each) =>
          'overrides' in each ? { ...each, overrides: { ...each.overrides, enabled: false } } : each,
        )
        expect(notified(unpaused, { enabled: false }).notifications).toEqual([])
      }),
    )
  })
})
