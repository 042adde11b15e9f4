import { describe, expect, it } from 'vitest'
import { daysWords } from './weekdays.ts'

describe('days of quiet hours', () => {
  it.each([
    [[0, 1, 6], 'Mon, Sat, Sun'],
    [[0, 1, 2, 3, 4, 5, 6], 'Every day'],
  ])('%o are told as %s, the week beginning on Monday', (days, told) => {
    expect(daysWords(days)).toBe(told)
  })
})
