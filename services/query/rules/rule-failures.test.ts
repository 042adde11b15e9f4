import { expect, it } from 'vitest'
import { testHost } from '../testing/response-bodies.ts'
import { openRuleFailureRegistry } from './rule-failures.ts'

it('remembers failures of a host for half an hour', () => {
  let nowMs = 0
  const troubles = openRuleFailureRegistry(() => nowMs)
  const trouble = { reason: 'no such column', isPersistent: true, isDenied: false }
  troubles.record(testHost, 'rule/a', trouble)
  nowMs = 1_799_999
  expect(troubles.of(testHost)('rule/a')).toMatchObject(trouble)
  expect(troubles.of(testHost)('rule/b')).toBeUndefined()
  expect(troubles.of({ ...testHost })('rule/a')).toBeUndefined()
  nowMs = 1_800_000
  expect(troubles.of(testHost)('rule/a')).toBeUndefined()
})
