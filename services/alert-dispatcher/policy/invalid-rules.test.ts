import { pino } from 'pino'
import { expect, it } from 'vitest'
import type { CustomRule } from '../policy.ts'
import { createInvalidRuleWarning } from './warnings.ts'

const own = (id: string, metric: string): CustomRule => ({
  id,
  name: 'Many',
  metric,
  operator: '>',
  warning: 1,
  critical: null,
  enabled: true,
})

const all = { matchHost: '*', matchGroup: '*' }

it('logs unknown rules and metrics with suggestions, and contradictory thresholds, once each', () => {
  const lines: string[] = []
  const warn = createInvalidRuleWarning(pino({}, { write: (line) => lines.push(line) }))
  const rules = {
    'disk-usage': { warning: 99 },
    parts: { critical: 3 },
    'custom:many': { warning: 2 },
    'disk-usge': { warning: 70 },
    'sql:late': { warning: 2 },
    xyz: {},
    memory: { hostThresholds: [{ matchHost: 'a', matchGroup: '*', warning: 99 }] },
  }
  const custom = [own('custom:many', 'running-queries'), own('custom:typo', 'runing-queries')]
  const known = {
    rules: [
      { id: 'disk-usage', thresholds: { warning: 80, critical: 95, below: false } },
      { id: 'parts', thresholds: { warning: null, critical: null, below: false } },
      { id: 'memory', thresholds: { warning: 80, critical: 95, below: false } },
    ],
    metrics: [{ id: 'running-queries' }],
  }
  const sqlRules = [{ ...own('sql:late', ''), sql: 'SELECT 1', unit: 'none' as const, summary: '', ...all }]
  warn({ rules, custom, sqlRules }, known)
  warn({ rules, custom, sqlRules }, known)
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      rule: 'disk-usge',
      reason: 'unknown rule "disk-usge"; did you mean "disk-usage"?',
      nearest: expect.arrayContaining(['disk-usage']),
    },
    { rule: 'xyz', reason: 'unknown rule "xyz"' },
    { rule: 'custom:typo', reason: 'unknown metric "runing-queries"; did you mean "running-queries"?' },
    {
      rule: 'disk-usage',
      reason: 'warning conflicts: critical is 95 and warning is 99; critical must be at least warning',
    },
    {
      rule: 'memory',
      reason:
        'hostThresholds of host "a" conflicts: critical is 95 and warning is 99; critical must be at least warning',
    },
  ])
})
