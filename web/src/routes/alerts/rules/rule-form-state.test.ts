import { describe, expect, it } from 'vitest'
import { allHosts, formatScope, listScopes, parseScopeValue, toScopeValue } from './host-scope.ts'
import { emptySqlRule, findSqlRuleProblems, toSqlRuleBody, toSqlRuleFields } from './own-rule-state.ts'
import { findRuleProblems, toRuleUpdate, toRuleFormState } from './rule-form-state.ts'
import { findHostThresholdProblems, toHostThresholds } from './thresholds.ts'

const empty = {
  watched: '',
  minSeverity: '',
  warning: '',
  critical: '',
  breaches: '',
  clears: '',
  hostThresholds: [],
} as const
const one = toScopeValue({ matchHost: 'one', matchGroup: '*' })
const typed = { ...empty, hostThresholds: [] }
const usual = { warning: 80, critical: 95, below: false }

/** Returns the problems without the fields that are valid. */
const shown = (problems: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(problems).filter(([, problem]) => problem !== undefined))

describe('rule form', () => {
  it('is empty for values from other sources', () => {
    expect(toRuleFormState(undefined)).toEqual(empty)
    expect(toRuleFormState({ ruleId: 'disk-usage', warning: 70, sources: { warning: 'file' } })).toEqual(empty)
  })

  it('contains values stored in the database', () => {
    const sources = { enabled: 'database', warning: 'database', clears: 'database', hostThresholds: 'database' }
    const hostThresholds = [{ matchHost: 'one', matchGroup: '*', warning: null, critical: 9 }]
    const config = { ruleId: 'disk-usage', enabled: false, warning: 0, clears: 3, hostThresholds, sources }
    expect(toRuleFormState(config)).toEqual({
      ...empty,
      watched: 'no',
      warning: '0',
      clears: '3',
      hostThresholds: [{ scope: one, warning: 'never', critical: '9' }],
    })
  })

  it('saves only filled fields', () => {
    expect(toRuleUpdate({ ...typed, watched: 'yes', warning: '70.5', breaches: ' 2 ' })).toEqual({
      enabled: true,
      warning: 70.5,
      breaches: 2,
    })
  })

  it('deletes the overrides when all fields are empty', () => {
    expect(toRuleUpdate(typed)).toBeNull()
  })

  it('names the field of each problem', () => {
    expect(shown(findRuleProblems(typed, usual))).toEqual({})
    expect(shown(findRuleProblems({ ...typed, warning: 'x', breaches: '1.5', clears: '101' }, usual))).toEqual({
      warning: 'Enter a number',
      breaches: 'Enter a whole number from 1 to 100',
      clears: 'Enter a whole number from 1 to 100',
    })
    expect(shown(findRuleProblems({ ...typed, warning: '96' }, usual))).toEqual({
      critical: 'Critical (95) must be at least warning (96)',
    })
  })
})

describe('thresholds of hosts', () => {
  it('keep the threshold of the rule where a field is empty', () => {
    const fields = [
      { scope: one, warning: '5', critical: '' },
      { scope: allHosts, warning: '', critical: ' Never ' },
    ]
    expect(toHostThresholds(fields)).toEqual([
      { matchHost: 'one', matchGroup: '*', warning: 5 },
      { matchHost: '*', matchGroup: '*', critical: null },
    ])
    expect(shown(findHostThresholdProblems(fields, usual))).toEqual({})
  })

  it('need a host once, a threshold, and the order of the rule', () => {
    const fields = [
      { scope: '', warning: 'a', critical: '' },
      { scope: one, warning: '', critical: '' },
      { scope: one, warning: '', critical: '70' },
    ]
    expect(shown(findHostThresholdProblems(fields, usual))).toEqual({
      'hostThresholds.0.scope': 'Select a host or a group',
      'hostThresholds.0.warning': 'Enter a number or “never”',
      'hostThresholds.1.critical': 'Enter a warning or a critical threshold',
      'hostThresholds.2.scope': 'Already in the list',
      'hostThresholds.2.critical': 'Critical (70) must be at least warning (80)',
    })
  })

  it('can name configured hosts and groups, and keep patterns of files', () => {
    const hosts = [
      { id: 0, name: 'one', group: 'cold' },
      { id: 1, name: 'two', group: 'cold' },
      { id: -1, name: 'mine', group: null },
    ]
    const pattern = toScopeValue({ matchHost: 'db-*', matchGroup: 'eu' })
    const labels = (current: string) => {
      const { groups, hosts: single } = listScopes(hosts, current)
      return [...groups, ...single].map(({ label }) => label)
    }
    expect(labels(one)).toEqual(['cold', 'one', 'two'])
    expect(labels(pattern)).toEqual(['cold', 'one', 'two', 'db-* in group eu'])
    expect(['', allHosts].map(labels)).toEqual([labels(one), labels(one)])
    expect(parseScopeValue(pattern)).toEqual({ matchHost: 'db-*', matchGroup: 'eu' })
    expect(formatScope(parseScopeValue(allHosts))).toBe('all hosts')
  })
})

describe('SQL rule form', () => {
  it('keeps a rule unchanged', () => {
    const body = {
      name: 'Late',
      sql: 'SELECT 1',
      unit: 'rows',
      operator: '<',
      warning: 5,
      critical: null,
      summary: 'Late.',
      matchHost: 'one',
      matchGroup: '*',
      breaches: 2,
      hostThresholds: [{ matchHost: '*', matchGroup: 'cold', warning: 1 }],
      enabled: true,
    } as const
    const rule = { ...body, hostThresholds: [...body.hostThresholds], id: 'sql:late', source: 'database' }
    expect(toSqlRuleBody(toSqlRuleFields(rule))).toEqual(body)
  })

  it('requires a name, a statement and a threshold', () => {
    expect(shown(findSqlRuleProblems(emptySqlRule))).toEqual({
      name: 'Enter a name',
      sql: 'Enter a SELECT statement',
      warning: 'Enter a warning or a critical threshold',
    })
    const filled = { ...emptySqlRule, name: 'n', sql: 'SELECT 1', operator: '<' as const, warning: '5', critical: '6' }
    expect(shown(findSqlRuleProblems(filled))).toEqual({ critical: 'Critical (6) must be at most warning (5)' })
  })
})
