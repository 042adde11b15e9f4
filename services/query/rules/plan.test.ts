import { describe, expect, it } from 'vitest'
import { host } from '../testing/chunked.ts'
import { openPlans, type Planning } from './plan.ts'

const measurable = (key: string, table = 'metrics') => ({
  key,
  requires: [`system.${table}`],
  columns: ['measured' as const],
  alone: false,
  sql: [{ since: '24.1', sql: `SELECT count() AS measured FROM $log(${table})` }],
})
const wanted = [measurable('rule/a'), measurable('rule/b'), measurable('rule/views', 'view_refreshes')]
const tables = new Set(['metrics'])
const planning: Planning = { version: '25.8.1.1', tables, logs: new Map(), wanted, slow: new Set(), withValues: false }

describe('a plan', () => {
  it('asks what the tables allow, and says of the rest which are missing on that host', () => {
    const { groups, untold } = openPlans()(planning)
    expect(groups.map(({ asked }) => asked.map(({ key }) => key))).toEqual([['rule/a', 'rule/b']])
    expect(groups[0]?.statement.sql).toContain('FROM system.metrics')
    expect(untold.get('rule/views')?.(host)).toBe('host db has no system.view_refreshes, or its user may not see it')
  })

  it('says of a server that is too old which version it has', () => {
    const { groups, untold } = openPlans()({ ...planning, version: '23.8.1.1' })
    expect(groups).toEqual([])
    expect(untold.get('rule/a')?.(host)).toBe('host db runs 23.8.1.1, which cannot tell this')
  })

  it('is made once for hosts that are alike', () => {
    const planFor = openPlans()
    expect(planFor({ ...planning, slow: new Set() })).toBe(planFor(planning))
  })

  it.each([
    ['another version', { version: '25.9.1.1' }],
    ['other tables', { tables: new Set(['metrics', 'view_refreshes']) }],
    ['other rules', { wanted: wanted.slice(1) }],
    ['something too slow', { slow: new Set(['rule/a']) }],
    ['values that may be told', { withValues: true }],
  ])('is another one for %s', (_what, other) => {
    const planFor = openPlans()
    expect(planFor({ ...planning, ...other })).not.toBe(planFor(planning))
  })
})
