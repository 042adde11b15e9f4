import { describe, expect, it } from 'vitest'
import { findSummaryProblem } from './weekly.ts'

const report =
  'one: 2026-W46\n92 of 100, 3 less\nDisk data | 930 GiB | 1,000 GiB | full in 3 to 5 days\nFailed | 1,204 (4.5 %)\n95th percentile | 210 s'

describe('a summary of a report', () => {
  it.each([
    'It scored 92 of 100. The disk data has 930 GiB of 1,000 GiB and is full in 3 to 5 days.',
    '1,204 statements failed (4.5%), and the 95th percentile is 210 s.',
    'Week 2026-W46 was quiet.',
    'There is one disk.',
  ])('is accepted: %s', (summary) => {
    expect(findSummaryProblem(summary, report)).toBeUndefined()
  })

  it.each([
    ['It scored 93 of 100.', 'figures'],
    ['The disk is full in 5 hours.', 'figures'],
    ['1,205 statements failed.', 'figures'],
    ['204 statements failed.', 'figures'],
    ['4.5 statements of 930 % failed.', 'figures'],
    ['Twelve statements failed.', 'figures in words'],
    ['Failures doubled.', 'figures in words'],
    ['Pay at https://evil.example.', 'markup'],
    ['<b>All well</b>', 'markup'],
    ['', 'length'],
    ['well '.repeat(400), 'length'],
  ])('is rejected: %s', (summary, problem) => {
    expect(findSummaryProblem(summary, report)).toBe(problem)
  })
})
