import { describe, expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { encodeJson } from './body.ts'
import { toServiceError, decodeFailure, encodeFailure } from './failure.ts'

describe('an encoded error', () => {
  it('is decoded unchanged', () => {
    const error = new ServiceError('gone', 'It left.', { details: { since: 1 }, retryAfterMs: 5 })
    expect(decodeFailure(encodeFailure(error, 1_000))).toEqual(error)
  })

  it('becomes internal if its code is unknown', () => {
    const error = decodeFailure(encodeJson({ code: 'teapot', message: 'Short and stout.', more: true }))
    expect(error).toMatchObject({ code: 'internal', message: 'Short and stout.' })
  })

  it('omits details that do not fit into a frame', () => {
    const error = new ServiceError('conflict', 'Too much.', { details: { all: 'x'.repeat(1_000) } })
    const arrived = decodeFailure(encodeFailure(error, 1_000))
    expect(arrived).toMatchObject({ code: 'conflict', message: 'Too much.', details: undefined })
  })
})

it('returns a service error to the caller, and only logs any other error', () => {
  const logged: string[] = []
  const failure = new ServiceError('invalid', 'No such day.')
  expect(toServiceError(failure, (reference) => logged.push(reference))).toBe(failure)
  expect(logged).toEqual([])
  const hidden = toServiceError(new Error('swordfish'), (reference) => logged.push(reference))
  expect(hidden).toMatchObject({ code: 'internal', details: { reference: logged[0] } })
  expect(JSON.stringify(hidden) + hidden.message + String(hidden.cause)).not.toContain('swordfish')
})
