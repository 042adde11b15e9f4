import { describe, expect, it } from 'vitest'
import type { RuleReading, Rule } from '#proto/rules.ts'
import type { Policy } from '../policy.ts'
import { evaluateDueRules } from './evaluate.ts'
import {
  createSimulatedHost,
  testPolicy,
  createTestReading,
  createTestRule,
  sweepOnce,
} from '../testing/simulated-host.ts'
import { selectMonitoredRules } from './monitored-rules.ts'

/** Evaluates one reading of one rule without earlier state. */
const evaluated = (rule: Rule, reading: RuleReading | undefined, overrides: Partial<Policy> = {}) => {
  const rules = selectMonitoredRules({ rules: [rule], metrics: [] }, { ...testPolicy, ...overrides })
  const readings = new Map(reading ? [[rule.id, reading]] : [])
  return evaluateDueRules(rules, { readings, metrics: new Map(), uptimeSeconds: 1 }, undefined)[0]
}

const disk = createTestRule({ id: 'disk' })
const free = createTestRule({ id: 'free', thresholds: { warning: 20, critical: 10, below: true } })

describe('a gauge', () => {
  it.each([
    [disk, 79.9, 'ok', 80],
    [disk, 80, 'warning', 80],
    [disk, 90, 'critical', 90],
    [free, 20.1, 'ok', 20],
    [free, 20, 'warning', 20],
    [free, 10, 'critical', 10],
    [{ ...disk, thresholds: { warning: null, critical: 90, below: false } }, 85, 'ok', 90],
    [{ ...disk, thresholds: { warning: 80, critical: null, below: false } }, 99, 'warning', 80],
  ])('$id at %d', (rule, value, status, threshold) => {
    expect(evaluated(rule, createTestReading(rule.id, value))).toMatchObject({ status, value, threshold })
  })

  it('uses thresholds that the server provides', () => {
    expect(evaluated(disk, createTestReading('disk', 85, { warning: 100, critical: 200 }))?.status).toBe('ok')
    expect(evaluated(disk, createTestReading('disk', 150, { critical: 140 }))).toMatchObject({
      status: 'critical',
      threshold: 140,
    })
  })

  it('prefers each threshold that the operator configures', () => {
    const reading = createTestReading('disk', 50, { warning: 100, critical: 40 })
    expect(evaluated(disk, reading, { rules: { disk: { warning: 30 } } })).toMatchObject({ status: 'critical' })
    expect(evaluated(disk, reading, { rules: { disk: { warning: 30, critical: 60 } } })).toMatchObject({
      status: 'warning',
      threshold: 30,
    })
  })

  it('that may lack rows fires above a threshold, and has no data otherwise', () => {
    const incomplete = 'host db hides rows of system.parts from the configured user; to see them, run GRANT SHOW TABLES'
    expect(evaluated(disk, createTestReading('disk', 85, { incomplete }))).toMatchObject({
      status: 'warning',
      value: 85,
    })
    const uncertain = { status: 'unknown', value: null, reason: `no data: ${incomplete}` }
    expect(evaluated(disk, createTestReading('disk', 10, { incomplete }))).toMatchObject(uncertain)
    expect(evaluated(free, createTestReading('free', 5, { incomplete }))).toMatchObject(uncertain)
  })

  it('is ok with too few samples', () => {
    const rule = { ...disk, minimumSamples: 20 }
    expect(evaluated(rule, createTestReading('disk', 99, { samples: 19 }))?.status).toBe('ok')
    expect(evaluated(rule, createTestReading('disk', 99, { samples: 20 }))?.status).toBe('critical')
    expect(evaluated(rule, createTestReading('disk', 99))?.status).toBe('critical')
  })

  it.each([
    [undefined, 'no data: nothing was measured'],
    [createTestReading('disk', null), 'the table is missing'],
    [createTestReading('disk', null, { reason: null }), 'no data'],
  ])('without a measurement has no data, with a reason', (reading, reason) => {
    expect(evaluated(disk, reading)).toMatchObject({ status: 'unknown', value: null, reason })
  })

  it('names offenders while it breaches', () => {
    const offenders = ['default.hits']
    expect(evaluated(disk, createTestReading('disk', 95, { offenders }))?.offenders).toEqual(offenders)
    expect(evaluated(disk, createTestReading('disk', 5, { offenders }))?.offenders).toEqual([])
  })
})

describe('a gauge with a clear ratio', () => {
  it.each([
    ['escalates at its thresholds', disk, [75, 80, 90], ['ok', 'warning', 'critical']],
    [
      'keeps firing until a tenth below its threshold',
      disk,
      [85, 75, 72, 71.9],
      ['warning', 'warning', 'warning', 'ok'],
    ],
    ['decreases a tenth below its threshold', disk, [95, 81, 80.9], ['critical', 'critical', 'warning']],
    [
      'with a lower bound keeps firing until a tenth above',
      free,
      [15, 21, 22, 22.1],
      ['warning', 'warning', 'warning', 'ok'],
    ],
  ])('%s', (_name, rule, values, statuses) => {
    const story = createSimulatedHost([{ ...rule, clearRatio: 0.9 }])
    const seen = values.map((value) => {
      sweepOnce(story, { [rule.id]: value })
      return story.record?.checks[rule.id]?.status
    })
    expect(seen).toEqual(statuses)
  })

  it('applies only to firing conditions', () => {
    const story = createSimulatedHost([{ ...disk, clearRatio: 0.9 }], { breaches: 3 })
    for (const value of [85, 85, 75]) sweepOnce(story, { disk: value })
    expect(story.record?.conditions).toEqual({})
  })
})

describe('a counter', () => {
  const errors = createTestRule({
    id: 'errors',
    measure: 'counter',
    thresholds: { warning: 1, critical: 10, below: false },
  })
  const seen = (values: readonly (readonly [number | null, number | null])[], rule = errors) => {
    const story = createSimulatedHost([rule])
    return values.map(([value, uptimeSeconds]) => {
      sweepOnce(story, { [rule.id]: value }, { uptimeSeconds })
      const check = story.record?.checks[rule.id]
      return check?.status === 'unknown' ? (check.reason ?? '') : `${check?.status} ${check?.value}`
    })
  }
  const first = 'no data: evaluated from the second measurement on'
  const restarted = 'no data: the server restarted since the last measurement'

  it.each([
    [
      'is evaluated by its increase',
      [
        [1_000, 10],
        [1_000, 20],
        [1_001, 30],
        [1_020, 40],
      ],
      [first, 'ok 0', 'warning 1', 'critical 19'],
    ],
    [
      'is not evaluated across a restart',
      [
        [1_000, 100],
        [2_000, 5],
        [2_001, 10],
      ],
      [first, restarted, 'warning 1'],
    ],
    [
      'is not evaluated after a decrease',
      [
        [1_000, 10],
        [3, 20],
        [4, 30],
      ],
      [first, 'no data: the counter was reset since the last measurement', 'warning 1'],
    ],
    [
      'increases across a sweep without data',
      [
        [1_000, 10],
        [null, 20],
        [1_002, 30],
      ],
      [first, 'the table is missing', 'warning 2'],
    ],
    [
      'increases while its host was unreachable',
      [
        [1_000, 10],
        [null, null],
        [1_002, 30],
      ],
      [first, 'the table is missing', 'warning 2'],
    ],
    [
      'without a measurement before a restart starts over',
      [
        [1_000, 100],
        [null, 5],
        [1_002, 10],
      ],
      [first, 'the table is missing', first],
    ],
  ] as const)('%s', (_name, values, statuses) => {
    expect(seen(values)).toEqual(statuses)
  })

  it('of type slope may decrease', () => {
    const slope = { ...errors, measure: 'slope' as const }
    expect(
      seen(
        [
          [10, 1],
          [5, 2],
          [7, 3],
        ],
        slope,
      ),
    ).toEqual([first, 'ok -5', 'warning 2'])
  })
})

describe('a compound rule', () => {
  const both = createTestRule({
    id: 'both',
    thresholds: { warning: null, critical: 1, below: false },
    allOf: [
      { rule: 'disk', severity: 'critical' },
      { rule: 'free', severity: 'warning' },
    ],
  })
  it.each([
    [95, 15, 'critical'],
    [95, 5, 'critical'],
    [85, 15, 'ok'],
    [95, 50, 'ok'],
    [null, 50, 'ok'],
    [null, 15, 'unknown'],
  ])('with the disk at %s and %s free', (used, left, status) => {
    const story = createSimulatedHost([both, disk, free])
    sweepOnce(story, { disk: used, free: left })
    expect(story.record?.checks.both?.status).toBe(status)
  })

  it('does not breach if a part is disabled', () => {
    const story = createSimulatedHost([both, disk, free], { rules: { free: { enabled: false } } })
    sweepOnce(story, { disk: 95, free: 5 })
    expect(story.record?.checks.both?.status).toBe('ok')
  })
})

describe('a custom rule', () => {
  const custom = { id: 'custom:queries-0a1b2c3d', name: 'Many queries', metric: 'running-queries', enabled: true }
  const metric = { id: 'running-queries', title: 'Queries', doc: '', category: 'queries', unit: 'count' as const }
  it.each([
    ['>', 10, 'ok'],
    ['>', 10.5, 'warning'],
    ['>=', 10, 'warning'],
    ['>=', 20, 'critical'],
    ['<', 10, 'warning'],
    ['<', 20, 'ok'],
    ['<=', 10, 'critical'],
  ] as const)('%s 10 and 20, the better of them first, at %d', (operator, value, status) => {
    const [warning, critical] = operator.startsWith('>') ? [10, 20] : [20, 10]
    const policy = { ...testPolicy, custom: [{ ...custom, operator, warning, critical }] }
    const rules = selectMonitoredRules({ rules: [], metrics: [metric] }, policy)
    const metrics = new Map([[metric.id, createTestReading(metric.id, value)]])
    const [evaluation] = evaluateDueRules(rules, { readings: new Map(), metrics, uptimeSeconds: 1 }, undefined)
    expect(evaluation).toMatchObject({ status, rule: { id: custom.id, title: 'Many queries' } })
  })

  it('is not monitored if its metric is gone or it is disabled', () => {
    const rule = { ...custom, operator: '>' as const, warning: 1, critical: null }
    expect(selectMonitoredRules({ rules: [], metrics: [] }, { ...testPolicy, custom: [rule] })).toEqual([])
    const off = { ...testPolicy, custom: [{ ...rule, enabled: false }] }
    expect(selectMonitoredRules({ rules: [], metrics: [metric] }, off)).toEqual([])
  })
})
