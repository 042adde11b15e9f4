import { expect, it } from 'vitest'
import { parseSameOriginPath } from './same-origin-path.ts'

it.each([
  ['/', '/'],
  ['/overview?host=0#top', '/overview?host=0#top'],
  ['/./a/../overview', '/overview'],
  ['/a b', '/a%20b'],
  ['/@evil.example', '/@evil.example'],
  ['', undefined],
  ['overview', undefined],
  [' /overview', undefined],
  ['//evil.example', undefined],
  ['/\\evil.example', undefined],
  ['\\\\evil.example', undefined],
  ['/\t/evil.example', undefined],
  ['/\n\\evil.example', undefined],
  ['/.//evil.example', undefined],
  ['/a/..//evil.example', undefined],
  ['/%2e//evil.example', undefined],
  ['https://evil.example', undefined],
  ['javascript:alert(1)', undefined],
])('%j is the path %j of this site', (given, path) => {
  expect(parseSameOriginPath(given)).toBe(path)
})
