import { expect, it } from 'vitest'
import { host } from '../testing/chunked.ts'
import { openTroubles } from './troubles.ts'

it('remembers for half an hour what failed on a host', () => {
  let nowMs = 0
  const troubles = openTroubles(() => nowMs)
  const trouble = { reason: 'no such column', isLasting: true, isDenied: false }
  troubles.tell(host, 'rule/a', trouble)
  nowMs = 1_799_999
  expect(troubles.of(host)('rule/a')).toMatchObject(trouble)
  expect(troubles.of(host)('rule/b')).toBeUndefined()
  expect(troubles.of({ ...host })('rule/a')).toBeUndefined()
  nowMs = 1_800_000
  expect(troubles.of(host)('rule/a')).toBeUndefined()
})
