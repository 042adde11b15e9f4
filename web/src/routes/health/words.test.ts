import { describe, expect, it } from 'vitest'
import type { Check } from '#lib/api/health.ts'
import { counted } from '#lib/ui/counted.ts'
import { conditionOf } from './testing/condition.ts'
import { byUrgency, happening, heldReason, limitsOf, severitiesOf, sharedReason, valueAgainst } from './words.ts'

const check = (given: Partial<Check>): Check => ({
  ruleId: 'disk-usage',
  title: 'Disk usage',
  doc: '',
  category: 'storage',
  unit: 'percent',
  isCustom: false,
  status: 'ok',
  value: 50,
  reason: null,
  atMs: 0,
  warning: 80,
  critical: 90,
  below: false,
  runbook: '',
  diagnosed: true,
  ...given,
})

describe('a value', () => {
  it.each([
    [{}, '91.5%, limit 90%'],
    [{ unit: 'bytes', value: 1024, threshold: 2048 }, '1 KiB, limit 2 KiB'],
    [{ value: null }, '–, limit 90%'],
    [{ threshold: null }, '91.5%'],
    [{ unit: 'yes-no', value: 1, threshold: 1 }, 'yes'],
    [{ unit: 'level', value: 2, threshold: 2 }, 'failing'],
  ] as const)('of %o is told as %s', (given, told) => {
    expect(valueAgainst(conditionOf(given))).toBe(told)
  })
})

describe('limits', () => {
  it.each([
    [{}, 'warning from 80%, critical from 90%'],
    [{ below: true }, 'warning below 80%, critical below 90%'],
    [{ warning: null }, 'critical from 90%'],
    [{ warning: null, critical: null }, 'no limit'],
    [{ unit: 'yes-no', warning: null, critical: 1 }, 'critical when yes'],
    [{ unit: 'level', warning: 1, critical: 2 }, 'warning when strained, critical when failing'],
  ] as const)('of %o are told as %s', (given, told) => {
    expect(limitsOf(check(given))).toBe(told)
  })
})

describe('counts', () => {
  it('know one from several and from none', () => {
    expect([0, 1, 2].map((count) => counted(count, 'host'))).toEqual(['no host', '1 host', '2 hosts'])
  })

  it('tell severities apart', () => {
    const [critical, warning] = [conditionOf({ severity: 'critical' }), conditionOf({})]
    expect(severitiesOf([critical, warning, warning])).toBe('1 critical and 2 warnings')
    expect(severitiesOf([warning])).toBe('1 warning')
    expect(severitiesOf([critical])).toBe('1 critical')
  })
})

describe('words of a newer service', () => {
  it('are shown as they are', () => {
    expect([heldReason('full-moon'), happening('sing')]).toEqual(['full-moon', 'sing'])
    expect([heldReason('quiet-hours'), happening('fire')]).toEqual(['these are quiet hours', 'Fired'])
  })
})

describe('urgency', () => {
  it('puts critical before warning, what fires before what may, and the latest before what is known', () => {
    const all = [
      conditionOf({ ruleId: 'cleared', phase: 'cleared', severity: 'critical' }),
      conditionOf({ ruleId: 'pending', phase: 'pending', severity: 'critical' }),
      conditionOf({ ruleId: 'old', sinceMs: 1 }),
      conditionOf({ ruleId: 'new', sinceMs: 2 }),
      conditionOf({ ruleId: 'critical', severity: 'critical' }),
    ]
    expect(all.toSorted(byUrgency).map(({ ruleId }) => ruleId)).toEqual([
      'critical',
      'new',
      'old',
      'pending',
      'cleared',
    ])
  })
})

it('says once why several checks could not be told', () => {
  const unknown = (count: number, reason: string | null) =>
    Array.from({ length: count }, () => check({ status: 'unknown', reason }))
  const all = [...unknown(3, 'no such table'), check({}), ...unknown(5, 'one cannot be reached'), ...unknown(9, null)]
  expect(sharedReason(all)).toEqual({ reason: 'one cannot be reached', checks: 5 })
  expect(sharedReason(unknown(3, 'no such table'))).toBeNull()
})
