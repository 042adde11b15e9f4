import { expect, it } from 'vitest'
import { parseRetryAfter } from './failure.ts'

const nowMs = Date.UTC(2026, 5, 1)

it.each([
  ['2', 2_000],
  [' 0 ', 0],
  ['Mon, 01 Jun 2026 00:00:30 GMT', 30_000],
  ['Sun, 31 May 2026 00:00:00 GMT', 0],
  ['soon', undefined],
  ['-1', undefined],
  ['1e9', undefined],
  [null, undefined],
])('Retry-After %j is %j ms', (header, delayMs) => {
  expect(parseRetryAfter(header, nowMs)).toBe(delayMs)
})
