import { expect, it } from 'vitest'
import { host } from '../testing/chunked.ts'
import { openTroubles } from './troubles.ts'

it('remembers failures of a host for half an hour', () => {
  let nowMs = 0
  const troubles = openTroubles(() => nowMs)
  const trouble = { reason: 'no such column', isPersistent: true, isDenied: false }
  troubles.record(host, 'rule/a', trouble)
  nowMs = 1_799_999
  expect(troubles.of(host)('rule/a')).toMatchObject(trouble)
  expect(troubles.of(host)('rule/b')).toBeUndefined()
  expect(troubles.of({ ...host })('rule/a')).toBeUndefined()
  nowMs = 1_800_000
  expect(troubles.of(host)('rule/a')).toBeUndefined()
})
