import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { breaks } from './release/breaks.ts'
import { lastRelease, presentContracts } from '../generate/contracts.ts'

const asked = z.object({ hostKey: z.string(), limit: z.number().max(10).optional(), order: z.enum(['asc', 'desc']) })
const between = (before: z.ZodType, now: z.ZodType) => {
  const contract = (schema: z.ZodType) => ({ 'query.ask': { input: z.toJSONSchema(schema, { io: 'input' }) } })
  return breaks(contract(before), contract(now))
}

describe('a contract of the bus', () => {
  it.each([
    ['an optional field', asked.extend({ search: z.string().optional() })],
    ['a field with a default', asked.extend({ search: z.string().default('') })],
    ['a value of an enumeration', asked.extend({ order: z.enum(['asc', 'desc', 'none']) })],
  ])('may grow by %s', (_what, now) => {
    expect(between(asked, now)).toEqual([])
  })

  it('may grow by a method, a caller and an alternative', () => {
    const output = z.union([z.object({ ok: z.literal(true) }), z.object({ ok: z.literal(false) })])
    const grown = z.union([...output.options, z.object({ later: z.literal(true) })])
    expect(between(output, grown)).toEqual([])
    expect(between(grown, output)).not.toEqual([])
    expect(breaks({ a: { callers: ['gateway'] } }, { a: { callers: ['gateway', 'mcp'] }, b: {} })).toEqual([])
    expect(breaks({ a: { callers: ['gateway', 'mcp'] } }, { a: { callers: ['gateway'] } })).toHaveLength(1)
    expect(breaks({ a: {}, b: {} }, { a: {} })).toEqual(['b is gone'])
  })

  const input = 'query.ask.input'
  it.each([
    ['a removed field', asked.omit({ limit: true }), [`${input}.properties.limit is gone`]],
    [
      'a renamed field',
      asked.omit({ limit: true }).extend({ most: z.number().optional() }),
      [`${input}.properties.limit is gone`],
    ],
    ['a new field that must be given', asked.extend({ user: z.string() }), [`${input}.required has "user"`]],
    ['a field that must be given now', asked.required(), [`${input}.required has "limit"`]],
    ['a field that need not be there any more', asked.partial({ order: true }), [`${input}.required lacks "order"`]],
    [
      'another type',
      asked.extend({ hostKey: z.number() }),
      [`${input}.properties.hostKey.type was "string" and is "number"`],
    ],
    [
      'another bound',
      asked.extend({ limit: z.number().max(5).optional() }),
      [`${input}.properties.limit.maximum was 10 and is 5`],
    ],
    [
      'a bound where there was none',
      asked.extend({ hostKey: z.string().max(9) }),
      [`${input}.properties.hostKey.maxLength is new: 9`],
    ],
    [
      'a value of an enumeration that is gone',
      asked.extend({ order: z.enum(['asc']) }),
      [`${input}.properties.order.enum lacks "desc"`],
    ],
    ['fields that are unknown being refused', asked.strict(), [`${input}.additionalProperties is new: false`]],
  ])('breaks by %s', (_what, now, expected) => {
    expect(between(asked, now)).toEqual(expected)
  })

  it('can be read by the last release and read what that sends; `npm run generate -- --release` records a release', async () => {
    const { version, contracts } = await lastRelease()
    expect(version).toMatch(/^\d+\.\d+\.\d+$/)
    expect(breaks(contracts, await presentContracts())).toEqual([])
  })
})
