import { describe, expect, it } from 'vitest'
import { bindParameters } from './parameters.ts'

const own = { name: 'own', type: 'Bool', default: 0 }

describe('a switch', () => {
  it.each([1, 0, '1', '0', true, false, 'true', 'false'])('may be %j', (value) => {
    expect(bindParameters([own], { own: value })).toEqual({ own: value })
  })

  it.each(['', 'banana', '2', 2, -1, "1' OR '1"])('may not be %j, and is named', (value) => {
    expect(() => bindParameters([own], { own: value })).toThrow(
      expect.objectContaining({ code: 'invalid', message: 'own must be 1 or 0', details: { parameter: 'own' } }),
    )
  })

  it('that is not given is as the definition says', () => {
    expect(bindParameters([own], {})).toEqual({ own: 0 })
  })
})
