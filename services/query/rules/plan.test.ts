import { describe, expect, it } from 'vitest'
import { testHost } from '../testing/response-bodies.ts'
import { openPlanner, type PlanInput } from './plan.ts'

const measurable = (key: string, table = 'metrics') => ({
  key,
  requires: [`system.${table}`],
  columns: ['measured' as const],
  alone: false,
  sql: [{ since: '24.1', sql: `SELECT count() AS measured FROM $log(${table})` }],
})
const wanted = [measurable('rule/a'), measurable('rule/b'), measurable('rule/views', 'view_refreshes')]
const tables = new Set(['metrics'])
const planning: PlanInput = { version: '25.8.1.1', tables, logs: new Map(), wanted, slow: new Set(), withValues: false }

describe('a plan', () => {
  it('runs rules whose tables exist and names the missing tables of others', () => {
    const { groups, unavailable } = openPlanner()(planning)
    expect(groups.map(({ rules }) => rules.map(({ key }) => key))).toEqual([['rule/a', 'rule/b']])
    expect(groups[0]?.statement.sql).toContain('FROM system.metrics')
    expect(unavailable.get('rule/views')?.(testHost)).toBe(
      'host db has no system.view_refreshes, or its user may not see it',
    )
  })

  it('names the version of a server that is too old', () => {
    const { groups, unavailable } = openPlanner()({ ...planning, version: '23.8.1.1' })
    expect(groups).toEqual([])
    expect(unavailable.get('rule/a')?.(testHost)).toBe('host db runs 23.8.1.1, which does not provide this data')
  })

  it('is cached for similar hosts', () => {
    const planFor = openPlanner()
    expect(planFor({ ...planning, slow: new Set() })).toBe(planFor(planning))
  })

  it.each([
    ['another version', { version: '25.9.1.1' }],
    ['other tables', { tables: new Set(['metrics', 'view_refreshes']) }],
    ['other rules', { wanted: wanted.slice(1) }],
    ['something too slow', { slow: new Set(['rule/a']) }],
    ['allowed values', { withValues: true }],
  ])('is another one for %s', (_what, other) => {
    const planFor = openPlanner()
    expect(planFor({ ...planning, ...other })).not.toBe(planFor(planning))
  })
})
