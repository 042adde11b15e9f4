import { expect, it } from 'vitest'
import { z } from 'zod'
import { createSchemaReducer } from './released-schema.ts'

const Row = z.object({ name: z.string(), rows: z.number().optional() })
const released = z.object({
  kind: z.enum(['one', 'two']).default('one'),
  rows: z.array(Row),
  byHost: z.record(z.string(), Row),
  result: z.union([z.object({ ok: z.literal(true), at: z.number() }), z.object({ ok: z.literal(false) })]),
})
const asReleased = createSchemaReducer(z.toJSONSchema(released, { io: 'input' }))
const sent = { rows: [{ name: 'a' }], byHost: { h: { name: 'b' } }, result: { ok: true, at: 1 } }

it('keeps the fields that the release knows, and absent optional fields', () => {
  expect(asReleased(sent)).toEqual(sent)
})

it.each([
  ['beside the others', { ...sent, later: 1 }],
  ['in a list', { ...sent, rows: [{ name: 'a', later: 1 }] }],
  ['under a key', { ...sent, byHost: { h: { name: 'b', later: 1 } } }],
  ['in one of several forms', { ...sent, result: { ok: true, at: 1, later: 1 } }],
])('drops a field that came later, %s', (_where, value) => {
  expect(asReleased(value)).toEqual(sent)
})

it.each([
  ['a value that an enumeration got later', { ...sent, kind: 'three' }, 'kind'],
  ['a missing field', { ...sent, rows: [{}] }, 'name'],
  ['another form', { ...sent, result: { ok: 'soon' } }, 'result'],
])('refuses %s', (_what, value, named) => {
  expect(() => asReleased(value)).toThrow(named)
})
