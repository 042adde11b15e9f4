import { describe, expect, it } from 'vitest'
import { parseRetryAfterMs } from './channel-request.ts'

const date = 'Thu, 01 Jan 2026 00:00:00 GMT'

describe('the requested wait', () => {
  it.each([
    ['3', undefined, 3_000],
    ['Thu, 01 Jan 2026 00:01:00 GMT', undefined, 60_000],
    ['soon', undefined, undefined],
    [null, undefined, undefined],
    ['-5', { retry_after: 1.5 }, 1_500],
    [null, { retry_after: 0.65, global: false }, 650],
    [null, { ok: false, parameters: { retry_after: 34 } }, 34_000],
    [null, { errcode: 'M_LIMIT_EXCEEDED', retry_after_ms: 2_000 }, 2_000],
    [null, { retry_after: -1 }, undefined],
    [null, { retry_after: 'soon' }, undefined],
    [null, 'slow down', undefined],
    ['3', { retry_after: 9 }, 3_000],
  ])('with header %j and body %j is %s ms', (header, body, expected) => {
    const headers = new Headers({ date, ...(header !== null && { 'retry-after': header }) })
    expect(parseRetryAfterMs(headers, body)).toBe(expected)
  })
})
