import { describe, expect, it } from 'vitest'
import type { Check } from '#lib/api/health.ts'
import { pluralize } from '#lib/ui/pluralize.ts'
import { createCondition } from './testing/condition.ts'
import {
  compareUrgency,
  formatEventKind,
  formatMuteReason,
  formatLimits,
  formatSeverityCounts,
  findSharedReason,
  formatValueWithLimit,
} from './condition-text.ts'

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

describe('value', () => {
  it.each([
    [{}, '91.5%, limit 90%'],
    [{ unit: 'bytes', value: 1024, threshold: 2048 }, '1 KiB, limit 2 KiB'],
    [{ value: null }, '–, limit 90%'],
    [{ threshold: null }, '91.5%'],
    [{ unit: 'yes-no', value: 1, threshold: 1 }, 'yes'],
    [{ unit: 'level', value: 2, threshold: 2 }, 'failing'],
  ] as const)('formats %o as %s', (fields, text) => {
    expect(formatValueWithLimit(createCondition(fields))).toBe(text)
  })
})

describe('limits', () => {
  it.each([
    [{}, 'warning from 80%, critical from 90%'],
    [{ below: true }, 'warning below 80%, critical below 90%'],
    [{ warning: null }, 'critical from 90%'],
    [{ warning: null, critical: null }, 'no limits'],
    [{ unit: 'yes-no', warning: null, critical: 1 }, 'critical when yes'],
    [{ unit: 'level', warning: 1, critical: 2 }, 'warning when strained, critical when failing'],
  ] as const)('format %o as %s', (fields, text) => {
    expect(formatLimits(check(fields))).toBe(text)
  })
})

describe('counts', () => {
  it('distinguish none, one and several', () => {
    expect([0, 1, 2].map((count) => pluralize(count, 'host'))).toEqual(['no hosts', '1 host', '2 hosts'])
  })

  it('distinguish severities', () => {
    const [critical, warning] = [createCondition({ severity: 'critical' }), createCondition({})]
    expect(formatSeverityCounts([critical, warning, warning])).toBe('1 critical and 2 warnings')
    expect(formatSeverityCounts([warning])).toBe('1 warning')
    expect(formatSeverityCounts([critical])).toBe('1 critical')
  })
})

describe('unknown identifiers', () => {
  it('are shown unchanged', () => {
    expect([formatMuteReason('full-moon'), formatEventKind('sing')]).toEqual(['full-moon', 'sing'])
    expect([formatMuteReason('quiet-hours'), formatEventKind('fire')]).toEqual(['quiet hours are in effect', 'Fired'])
  })
})

describe('urgency', () => {
  it('sorts firing before pending, critical before warning, latest first', () => {
    const all = [
      createCondition({ ruleId: 'cleared', phase: 'cleared', severity: 'critical' }),
      createCondition({ ruleId: 'pending', phase: 'pending', severity: 'critical' }),
      createCondition({ ruleId: 'old', sinceMs: 1 }),
      createCondition({ ruleId: 'new', sinceMs: 2 }),
      createCondition({ ruleId: 'critical', severity: 'critical' }),
    ]
    expect(all.toSorted(compareUrgency).map(({ ruleId }) => ruleId)).toEqual([
      'critical',
      'new',
      'old',
      'pending',
      'cleared',
    ])
  })
})

it('returns the reason that several checks share', () => {
  const unknown = (count: number, reason: string | null) =>
    Array.from({ length: count }, () => check({ status: 'unknown', reason }))
  const all = [...unknown(3, 'no such table'), check({}), ...unknown(5, 'one cannot be reached'), ...unknown(9, null)]
  expect(findSharedReason(all)).toEqual({ reason: 'one cannot be reached', checks: 5 })
  expect(findSharedReason(unknown(3, 'no such table'))).toBeNull()
})
