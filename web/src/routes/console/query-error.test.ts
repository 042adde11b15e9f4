import { expect, it } from 'vitest'
import { RequestFailure } from '#lib/api/failure.ts'
import { toQueryError } from './query-error.ts'

const failed = (message: string, details = {}) => new RequestFailure({ status: 400, type: 'invalid', message, details })
const unknown = 'host one: Unknown expression identifier `nope` in scope SELECT 1. (47 UNKNOWN_IDENTIFIER)'

it.each([
  ['reported by the host', failed('Syntax error', { position: 7 }), 'SELECT count(', 7],
  ['of an unknown name', failed(unknown), 'SELECT a.nope, nope', 15],
  ['as null for an ambiguous name', failed(unknown), 'SELECT nope, nope', null],
  ['as null without a name', failed('Timeout exceeded'), 'SELECT 1', null],
])('finds the position %s', (_, thrown, sql, position) => expect(toQueryError(thrown, sql).position).toBe(position))

it('explains a rejected statement with a hint', () => {
  const refusal = failed('query: must begin with SELECT, WITH', { reason: 'first-word', position: 0 })
  expect(toQueryError(refusal, 'DROP TABLE x')).toEqual({
    isRejected: true,
    message: 'Must begin with SELECT, WITH.',
    hint: 'The console is read-only, to prevent accidental changes.',
    position: 0,
  })
  expect(toQueryError(refusal, 'show tables').hint).toContain('system.tables')
  expect(toQueryError(failed('Timeout exceeded'), 'SELECT 1')).toMatchObject({ isRejected: false, hint: '' })
  const details = { host: 'one', reason: 'unreachable' }
  const silent = new RequestFailure({ status: 503, type: 'unavailable', message: 'one cannot be reached', details })
  expect(toQueryError(silent, 'SELECT 1')).toMatchObject({ isRejected: false, message: 'one cannot be reached' })
})
