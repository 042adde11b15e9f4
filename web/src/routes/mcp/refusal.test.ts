import { describe, expect, it } from 'vitest'
import { RequestFailure } from '#lib/api/failure.ts'
import { refusalOf } from './refusal.ts'

const failure = (status: number) => new RequestFailure({ status, type: 'any', message: 'no' })

describe('what a refusal of the tool server means', () => {
  it.each([
    [401, false, 'wants to know who asks', true],
    [401, true, 'does not know this key', true],
    [403, true, 'not this', true],
    [429, true, 'too many requests', false],
  ])('%i, with a key: %s', (status, hasKey, title, wantsKey) => {
    expect(refusalOf(failure(status), hasKey)).toMatchObject({ title: expect.stringContaining(title), wantsKey })
  })

  it('is said of nothing else', () => {
    expect(refusalOf(failure(503), true)).toBeNull()
    expect(refusalOf(new Error('names must be JSON'), false)).toBeNull()
  })
})
