import { describe, expect, it } from 'vitest'
import { bindParameters } from './parameters.ts'

const own = { name: 'own', type: 'Bool', default: 0 }

const hours = { name: 'last_hours', type: 'UInt16', default: 24 }
const seconds = { name: 'min_duration_s', type: 'Float64', default: 1 }

describe('a number', () => {
  it.each([
    [hours, ['0', 7, '65535']],
    [seconds, ['0.5', 2.5, '1e3', '-1']],
  ])('is handed on as it was given: %j', (declared, values) => {
    const bound = values.map((value) => bindParameters([declared], { [declared.name]: value })[declared.name])
    expect(bound).toEqual(values)
  })

  it.each(['', ' 1', '1 ', '+1', '0x10', '1.5', '-1', '65536', 'NaN', '٣', true])(
    'that the host would not read, such as %j, is refused by its name',
    (value) => {
      expect(() => bindParameters([hours], { last_hours: value })).toThrow('last_hours must be a whole number from 0')
    },
  )

  it.each(['', 'abc', '0x1p3', 'Infinity', 'NaN', '.'])('with a decimal point rejects %j', (value) => {
    expect(() => bindParameters([seconds], { min_duration_s: value })).toThrow('min_duration_s must be a number')
  })
})

describe('a boolean', () => {
  it.each([1, 0, '1', '0', true, false, 'true', 'false'])('may be %j', (value) => {
    expect(bindParameters([own], { own: value })).toEqual({ own: value })
  })

  it.each(['', 'banana', '2', 2, -1, "1' OR '1"])('rejects %j and names the parameter', (value) => {
    expect(() => bindParameters([own], { own: value })).toThrow(
      expect.objectContaining({ code: 'invalid', message: 'own must be 1 or 0', details: { parameter: 'own' } }),
    )
  })

  it('uses the default of the definition', () => {
    expect(bindParameters([own], {})).toEqual({ own: 0 })
  })
})
