import { describe, expect, it } from 'vitest'
import { formatDays } from './weekdays.ts'

describe('quiet hour days', () => {
  it.each([
    [[0, 1, 6], 'Mon, Sat, Sun'],
    [[0, 1, 2, 3, 4, 5, 6], 'Every day'],
  ])('format %o as %s, with Monday first', (days, text) => {
    expect(formatDays(days)).toBe(text)
  })
})
