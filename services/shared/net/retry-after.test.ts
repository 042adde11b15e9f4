import { describe, expect, it } from 'vitest'
import { parseRetryAfter, readRetryAfter } from './retry-after.ts'

describe('the delay of a Retry-After header', () => {
  it.each([
    ['3', 3_000],
    [' 0.5 ', 500],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['Thursday, 01-Jan-26 00:00:30 GMT', 30_000],
    ['Thu Jan  1 00:00:20 2026', 20_000],
    ['soon', undefined],
    ['in 5 minutes', undefined],
    ['-5', undefined],
    ['', undefined],
    [null, undefined],
  ])('of %j is %s ms', (header, waitMs) => {
    expect(parseRetryAfter(header, Date.UTC(2026, 0, 1))).toBe(waitMs)
  })

  it.each([
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT', date: 'Thu, 01 Jan 2026 00:00:20 GMT' }, 40_000],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT' }, undefined],
    [{ 'retry-after': '2' }, 2_000],
  ])('relative to the Date header of %j is %s ms', (headers, waitMs) => {
    expect(readRetryAfter(new Headers(headers))).toBe(waitMs)
  })
})
