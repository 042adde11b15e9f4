import { describe, expect, it } from 'vitest'
import { formatMeasuredValue, formatWithBaseline } from './insight-text.ts'

describe('insight value', () => {
  it.each([
    [26, 'seconds', '26 s'],
    [1024, 'bytes', '1 KiB'],
    [27.34, 'days', '27.3 days'],
    [3, '', '3'],
    [null, 'days', '–'],
  ])('formats %s %s as %s', (value, unit, text) => {
    expect(formatMeasuredValue(value, unit)).toBe(text)
  })

  it('is formatted with its baseline', () => {
    expect(formatWithBaseline({ value: 26, baseline: 10, unit: 'seconds' })).toBe('26 s, baseline 10 s')
    expect(formatWithBaseline({ value: 26, baseline: null, unit: 'seconds' })).toBe('26 s')
    expect(formatWithBaseline({ value: null, baseline: 10, unit: 'seconds' })).toBe('no data')
  })
})
