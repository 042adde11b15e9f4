import { describe, expect, it } from 'vitest'
import { measured, measuredAgainst } from './words.ts'

describe('a figure of an insight', () => {
  it.each([
    [26, 'seconds', '26 s'],
    [1024, 'bytes', '1 KiB'],
    [27.34, 'days', '27.3 days'],
    [3, '', '3'],
    [null, 'days', '–'],
  ])('%s in %s is told as %s', (value, unit, told) => {
    expect(measured(value, unit)).toBe(told)
  })

  it('stands against what was to be expected', () => {
    expect(measuredAgainst({ value: 26, baseline: 10, unit: 'seconds' })).toBe('26 s against 10 s')
    expect(measuredAgainst({ value: 26, baseline: null, unit: 'seconds' })).toBe('26 s')
    expect(measuredAgainst({ value: null, baseline: 10, unit: 'seconds' })).toBe('no figure')
  })
})
