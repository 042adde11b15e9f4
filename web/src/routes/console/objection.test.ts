import { expect, it } from 'vitest'
import { RequestFailure } from '#lib/api/failure.ts'
import { objectionOf } from './objection.ts'

const failed = (message: string, details = {}) => new RequestFailure({ status: 400, type: 'invalid', message, details })
const unknown = 'host one: Unknown expression identifier `nope` in scope SELECT 1. (47 UNKNOWN_IDENTIFIER)'

it.each([
  ['where the host says', failed('Syntax error', { position: 7 }), 'SELECT count(', 7],
  ['at the name that the host does not know', failed(unknown), 'SELECT a.nope, nope', 15],
  ['nowhere when the name stands there twice', failed(unknown), 'SELECT nope, nope', null],
  ['nowhere when no name is to blame', failed('Timeout exceeded'), 'SELECT 1', null],
])('stands %s', (_, thrown, sql, position) => expect(objectionOf(thrown, sql).position).toBe(position))

it('tells what was not even sent, and what to do instead', () => {
  const refusal = failed('query: must begin with SELECT, WITH', { reason: 'first-word', position: 0 })
  expect(objectionOf(refusal, 'DROP TABLE x')).toEqual({
    isRefused: true,
    message: 'Must begin with SELECT, WITH.',
    hint: 'Statements here only read, so that nobody changes data by a slip.',
    position: 0,
  })
  expect(objectionOf(refusal, 'show tables').hint).toContain('system.tables')
  expect(objectionOf(failed('Timeout exceeded'), 'SELECT 1')).toMatchObject({ isRefused: false, hint: '' })
  const details = { host: 'one', reason: 'unreachable' }
  const silent = new RequestFailure({ status: 503, type: 'unavailable', message: 'one cannot be reached', details })
  expect(objectionOf(silent, 'SELECT 1')).toMatchObject({ isRefused: false, message: 'one cannot be reached' })
})
