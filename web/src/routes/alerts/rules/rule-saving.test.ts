import { describe, expect, it } from 'vitest'
import { savingOf, typedOf } from './rule-saving.ts'

const empty = { watched: '', minSeverity: '', warning: '', critical: '', breaches: '', clears: '' } as const

describe('the form of a rule', () => {
  it('is empty of what nobody settled here', () => {
    expect(typedOf(undefined)).toEqual(empty)
    expect(typedOf({ ruleId: 'disk-usage', warning: 70, sources: { warning: 'file' } })).toEqual(empty)
  })

  it('has what was settled here', () => {
    const sources = { enabled: 'database', warning: 'database', clears: 'database' }
    expect(typedOf({ ruleId: 'disk-usage', enabled: false, warning: 0, clears: 3, sources })).toEqual({
      ...empty,
      watched: 'no',
      warning: '0',
      clears: '3',
    })
  })

  it('saves what is typed, and nothing else', () => {
    expect(savingOf({ ...empty, watched: 'yes', warning: '70.5', breaches: ' 2 ' })).toEqual({
      enabled: true,
      warning: 70.5,
      breaches: 2,
    })
  })

  it('takes back what was settled once all of it is empty', () => {
    expect(savingOf(empty)).toBeNull()
  })
})
