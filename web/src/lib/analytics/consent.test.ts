import { expect, it } from 'vitest'
import { readConsent } from './consent.ts'

it.each([
  [null, false, 'unset'],
  ['yes', false, 'unset'],
  ['granted', false, 'granted'],
  ['denied', false, 'denied'],
  ['granted', true, 'denied'],
  [null, true, 'denied'],
] as const)('%o with Global Privacy Control: %s is %s', (stored, refusesAll, expected) => {
  expect(readConsent(stored, refusesAll)).toBe(expected)
})
