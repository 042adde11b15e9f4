import { describe, expect, it } from 'vitest'
import { toLogPattern, groupLogLines } from './log-patterns.ts'

const line = (errorMessage: string, errorTimestamp: number, flowName = 'orders', errorType = 'error') => ({
  id: 1,
  flowName,
  errorMessage,
  errorType,
  errorTimestamp,
})

describe('the pattern of a line', () => {
  it.each([
    ['pushed 1229 records for batch 29', 'pushed ? records for batch ?'],
    ['dial tcp 10.0.0.9:9000: connection refused', 'dial tcp ?: connection refused'],
    ['run 0b5c7f4e-1c2d-4e5f-8a9b-0c1d2e3f4a5b ended', 'run ? ended'],
    ['slot at 0/16B3748 since 2026-01-01T10:00:00.123Z', 'slot at ? since ?'],
    ['relation "public.orders" does not exist', 'relation ? does not exist'],
    ['a\n  b\t c', 'a b c'],
    ['digest deadbeef00112233', 'digest ?'],
  ])('%s', (text, pattern) => expect(toLogPattern(text)).toBe(pattern))

  it('has a maximum length', () => expect(toLogPattern('word '.repeat(1_000))).toHaveLength(500))
})

describe('patterns of lines', () => {
  it('are sorted by count', () => {
    const patterns = groupLogLines([
      line('batch 3 failed', 30, 'orders'),
      line('batch 2 failed', 20, 'users'),
      line('no such table', 40),
      line('batch 1 failed', 10, 'orders', 'warn'),
    ])
    expect(patterns.map(({ pattern, level, count }) => [pattern, level, count])).toEqual([
      ['batch ? failed', 'error', 2],
      ['no such table', 'error', 1],
      ['batch ? failed', 'warn', 1],
    ])
    expect(patterns[0]).toMatchObject({
      firstSeenMs: 20,
      lastSeenMs: 30,
      mirrors: ['orders', 'users'],
      sample: 'batch 3 failed',
    })
    expect(new Set(patterns.map(({ fingerprint }) => fingerprint)).size).toBe(3)
    expect(patterns[0]?.fingerprint).toMatch(/^[\da-f]{16}$/)
  })

  it('have stable fingerprints', () => {
    const once = groupLogLines([line('batch 3 failed', 30)])
    expect(groupLogLines([line('batch 99 failed', 99)])[0]?.fingerprint).toBe(once[0]?.fingerprint)
  })

  it('are empty without lines', () => expect(groupLogLines([])).toEqual([]))
})
