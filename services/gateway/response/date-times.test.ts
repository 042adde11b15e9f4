import { expect, it } from 'vitest'
import { addDateTimes } from '#proto/http/date-times.ts'

it.each([
  ['{"atMs":1790000000000}', '{"atMs":1790000000000,"at":"2026-09-21T14:13:20.000Z"}'],
  ['{"atMs":1790000000000.5,"x":1}', '{"atMs":1790000000000.5,"at":"2026-09-21T14:13:20.000Z","x":1}'],
  ['{"atMs":-1.5e-9}', '{"atMs":-1.5e-9,"at":"1970-01-01T00:00:00.000Z"}'],
  ['{"atMs":1e+200}', '{"atMs":1e+200,"at":"9999-12-31T23:59:59.999Z"}'],
  ['{"lastReadMs":null}', '{"lastReadMs":null,"lastReadAt":null}'],
  ['{"timeMs":0,"fromMs":1,"toMs":2}', '{"timeMs":0,"time":"1970-01-01T00:00:00.000Z","fromMs":1,"toMs":2}'],
  ['{"tookMs":5,"fromMs":null}', '{"tookMs":5,"fromMs":null}'],
  [JSON.stringify({ raw: '{"atMs":1790000000000}' }), JSON.stringify({ raw: '{"atMs":1790000000000}' })],
])('adds date-times next to epoch milliseconds: %s', (json, expected) => {
  expect(addDateTimes(json)).toBe(expected)
  expect(addDateTimes(expected)).toBe(expected)
})
