import { expect, it } from 'vitest'
import { readConsent } from './consent.ts'

it.each([
  [null, false, 'unasked'],
  ['yes', false, 'unasked'],
  ['given', false, 'given'],
  ['refused', false, 'refused'],
  ['given', true, 'refused'],
  [null, true, 'refused'],
] as const)('%o with a browser that refuses all: %s is %s', (kept, refusesAll, expected) => {
  expect(readConsent(kept, refusesAll)).toBe(expected)
})
