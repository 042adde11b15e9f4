import { expect, it } from 'vitest'
import { parseBuildInteger, parseBuildFlag } from './build-flags.ts'

it.each([
  ['true', true],
  ['ON', true],
  ['1', true],
  ['off', false],
  ['maybe', false],
  ['', undefined],
  [null, undefined],
])('CLIENT_FEATURE_USER_CONNECTIONS_DB=%s offers stored connections: %s', (text, offered) => {
  expect(parseBuildFlag(text)).toBe(offered)
})

it.each([
  ['20', 20],
  ['0', undefined],
  ['-1', undefined],
  ['many', undefined],
  [null, undefined],
])('CLIENT_AUTOCOMPLETE_LIMIT=%s limits completions to %s', (text, most) => {
  expect(parseBuildInteger(text)).toBe(most)
})
