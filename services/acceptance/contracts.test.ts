import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { findBreakingChanges } from './release-compatibility/breaking-changes.ts'
import { readLastRelease, readCurrentContracts } from '../generate/contracts.ts'

const request = z.object({ hostKey: z.string(), limit: z.number().max(10).optional(), order: z.enum(['asc', 'desc']) })
const between = (before: z.ZodType, now: z.ZodType) => {
  const contract = (schema: z.ZodType) => ({ 'query.rows': { input: z.toJSONSchema(schema, { io: 'input' }) } })
  return findBreakingChanges(contract(before), contract(now))
}

describe('a bus contract', () => {
  it.each([
    ['an optional field', request.extend({ search: z.string().optional() })],
    ['a field with a default', request.extend({ search: z.string().default('') })],
    ['a value of an enumeration', request.extend({ order: z.enum(['asc', 'desc', 'none']) })],
    ['values beyond a bound', request.extend({ limit: z.number().max(20).optional() })],
  ])('may grow by %s', (_what, now) => {
    expect(between(request, now)).toEqual([])
  })

  it('may grow by a method, a caller and an alternative', () => {
    const output = z.union([z.object({ ok: z.literal(true) }), z.object({ ok: z.literal(false) })])
    const grown = z.union([...output.options, z.object({ later: z.literal(true) })])
    expect(between(output, grown)).toEqual([])
    expect(between(grown, output)).not.toEqual([])
    expect(findBreakingChanges({ a: { callers: ['gateway'] } }, { a: { callers: ['gateway', 'mcp'] }, b: {} })).toEqual(
      [],
    )
    expect(findBreakingChanges({ a: { callers: ['gateway', 'mcp'] } }, { a: { callers: ['gateway'] } })).toHaveLength(1)
    expect(findBreakingChanges({ a: {}, b: {} }, { a: {} })).toEqual(['b is gone'])
  })

  const input = 'query.rows.input'
  it.each([
    ['a removed field', request.omit({ limit: true }), [`${input}.properties.limit is gone`]],
    [
      'a renamed field',
      request.omit({ limit: true }).extend({ most: z.number().optional() }),
      [`${input}.properties.limit is gone`],
    ],
    ['a new field that must be given', request.extend({ user: z.string() }), [`${input}.required has "user"`]],
    ['a field that must be given now', request.required(), [`${input}.required has "limit"`]],
    ['a field that became optional', request.partial({ order: true }), [`${input}.required lacks "order"`]],
    [
      'another type',
      request.extend({ hostKey: z.number() }),
      [`${input}.properties.hostKey.type was "string" and is "number"`],
    ],
    [
      'another bound',
      request.extend({ limit: z.number().max(5).optional() }),
      [`${input}.properties.limit.maximum was 10 and is 5`],
    ],
    [
      'a bound where there was none',
      request.extend({ hostKey: z.string().max(9) }),
      [`${input}.properties.hostKey.maxLength is new: 9`],
    ],
    [
      'a value of an enumeration that is gone',
      request.extend({ order: z.enum(['asc']) }),
      [`${input}.properties.order.enum lacks "desc"`],
    ],
    ['fields that are unknown being refused', request.strict(), [`${input}.additionalProperties is new: false`]],
  ])('breaks by %s', (_what, now, expected) => {
    expect(between(request, now)).toEqual(expected)
  })

  it('can be read by the last release and read what that sends; `npm run generate -- --release` records a release', async () => {
    const { version, contracts } = await readLastRelease()
    expect(version).toMatch(/^\d+\.\d+\.\d+$/)
    expect(findBreakingChanges(contracts, await readCurrentContracts())).toEqual([])
  })
})
