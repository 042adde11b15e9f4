import { describe, expect, it } from 'vitest'
import { RequestFailure } from '#lib/api/failure.ts'
import { explainRejection } from './call-rejection.ts'

const failure = (status: number) => new RequestFailure({ status, type: 'any', message: 'no' })

describe('call rejection', () => {
  it.each([
    [401, false, 'authentication required', true],
    [401, true, 'invalid API key', true],
    [403, true, 'missing scope', true],
    [429, true, 'rate limit exceeded', false],
  ])('explains %i, with a key: %s', (status, hasKey, title, requiresKey) => {
    expect(explainRejection(failure(status), hasKey)).toMatchObject({
      title: expect.stringContaining(title),
      requiresKey,
    })
  })

  it('ignores other failures', () => {
    expect(explainRejection(failure(503), true)).toBeNull()
    expect(explainRejection(new Error('names must be JSON'), false)).toBeNull()
  })
})
