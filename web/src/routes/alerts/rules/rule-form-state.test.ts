import { describe, expect, it } from 'vitest'
import { toRuleUpdate, toRuleFormState } from './rule-form-state.ts'

const empty = { watched: '', minSeverity: '', warning: '', critical: '', breaches: '', clears: '' } as const

describe('rule form', () => {
  it('is empty for values from other sources', () => {
    expect(toRuleFormState(undefined)).toEqual(empty)
    expect(toRuleFormState({ ruleId: 'disk-usage', warning: 70, sources: { warning: 'file' } })).toEqual(empty)
  })

  it('contains values stored in the database', () => {
    const sources = { enabled: 'database', warning: 'database', clears: 'database' }
    expect(toRuleFormState({ ruleId: 'disk-usage', enabled: false, warning: 0, clears: 3, sources })).toEqual({
      ...empty,
      watched: 'no',
      warning: '0',
      clears: '3',
    })
  })

  it('saves only filled fields', () => {
    expect(toRuleUpdate({ ...empty, watched: 'yes', warning: '70.5', breaches: ' 2 ' })).toEqual({
      enabled: true,
      warning: 70.5,
      breaches: 2,
    })
  })

  it('deletes the overrides when all fields are empty', () => {
    expect(toRuleUpdate(empty)).toBeNull()
  })
})
