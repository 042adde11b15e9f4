import { describe, expect, it } from 'vitest'
import { formatAge, formatInstant, readInstant } from './time.ts'

const instant = Date.parse('2026-11-20T14:05:09Z')

describe('instants', () => {
  it('are formatted in the given zone', () => {
    expect(formatInstant(instant, 'UTC')).toBe('20 Nov 2026 14:05:09')
    expect(formatInstant(instant, 'Asia/Tokyo')).toBe('20 Nov 2026 23:05:09')
  })

  it.each([
    [instant, instant],
    [String(instant), instant],
    ['', null],
    ['yesterday', null],
    [null, null],
    [{}, null],
  ])('parses %j as %j', (value, expected) => expect(readInstant(value)).toBe(expected))

  it.each([
    [2_000, 'just now'],
    [40_000, '40s ago'],
    [3_700_000, '1h 1m ago'],
    [-300_000, 'in 5m'],
  ])('formats an age of %s ms', (age, text) => expect(formatAge(instant, instant + age)).toBe(text))
})
