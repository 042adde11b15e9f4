import { expect, it } from 'vitest'
import { builtCount, builtFlag } from './built.ts'

it.each([
  ['true', true],
  ['ON', true],
  ['1', true],
  ['off', false],
  ['maybe', false],
  ['', undefined],
  [null, undefined],
])('CLIENT_FEATURE_USER_CONNECTIONS_DB=%s offers to keep connections: %s', (text, offered) => {
  expect(builtFlag(text)).toBe(offered)
})

it.each([
  ['20', 20],
  ['0', undefined],
  ['-1', undefined],
  ['many', undefined],
  [null, undefined],
])('CLIENT_AUTOCOMPLETE_LIMIT=%s shows as many completions: %s', (text, most) => {
  expect(builtCount(text)).toBe(most)
})
