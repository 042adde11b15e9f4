import { pino } from 'pino'
import { expect, it } from 'vitest'
import type { CustomRule } from './policy.ts'
import { openUnknownRules } from './unknown-rules.ts'

it('warns once of each rule that is named and that there is not, with those that are near', () => {
  const lines: string[] = []
  const warn = openUnknownRules(pino({}, { write: (line) => lines.push(line) }))
  const own: CustomRule = {
    id: 'custom:many',
    name: 'Many',
    metric: 'running-queries',
    operator: '>',
    warning: 1,
    critical: null,
    enabled: true,
  }
  const rules = { 'disk-usage': { warning: 70 }, 'custom:many': { warning: 2 }, 'disk-usge': { warning: 70 }, xyz: {} }
  const catalogued = ['disk-usage', 'parts', 'replication-lag']
  warn({ rules, custom: [own] }, catalogued)
  warn({ rules, custom: [own] }, catalogued)
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      rule: 'disk-usge',
      reason: 'no such rule: disk-usge; did you mean disk-usage?',
      nearest: expect.arrayContaining(['disk-usage']),
    },
    { rule: 'xyz', reason: 'no such rule: xyz' },
  ])
})
