import { APIError } from 'openai'
import { describe, expect, it } from 'vitest'
import { toProviderFailure } from './provider-failure.ts'

const waitWith = (headers: Record<string, string>) =>
  toProviderFailure(APIError.generate(429, {}, 'slow down', new Headers(headers)), false)?.retryAfterMs

describe('the retry delay of a gateway', () => {
  it.each([
    [{ 'retry-after': '2' }, 2_000],
    [{ 'retry-after': '86400' }, 3_600_000],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT', date: 'Thu, 01 Jan 2026 00:00:20 GMT' }, 40_000],
    [{ 'retry-after': '' }, null],
    [{}, null],
  ])('is read from %j: %s ms', (headers, waitMs) => expect(waitWith(headers)).toBe(waitMs))
})
