import { describe, expect, it } from 'vitest'
import type { Unit } from '#proto/catalogue.ts'
import { formatAxisValues, formatExactValue, formatElapsedTime, formatValue, formatTimeSpan } from './number.ts'

describe('number formats', () => {
  it.each<[number, Unit, string]>([
    [0, 'count', '0'],
    [7, 'count', '7'],
    [1234, 'count', '1,234'],
    [184_213, 'count', '184.2K'],
    [-184_213, 'rows', '-184.2K'],
    [999_949, 'count', '999.9K'],
    [999_960, 'count', '1M'],
    [2_499_000_000, 'rows', '2.5B'],
    [7e15, 'rows', '7,000T'],
    [99_999.6, 'count', '100,000'],
    [12.345, 'none', '12.3'],
    [0.001, 'none', '<0.01'],
    [512, 'bytes', '512 B'],
    [1024, 'bytes', '1 KiB'],
    [1_048_576 * 1.5, 'bytes', '1.5 MiB'],
    [2 ** 40, 'bytes-per-second', '1 TiB/s'],
    [2 ** 62, 'bytes', '4 EiB'],
    [90_000, 'rows-per-second', '90,000/s'],
    [0, 'milliseconds', '0 ms'],
    [0, 'microseconds', '0 µs'],
    [0, 'seconds', '0 s'],
    [0.25, 'milliseconds', '250 µs'],
    [12.4, 'milliseconds', '12.4 ms'],
    [1500, 'milliseconds', '1.5 s'],
    [130, 'seconds', '2m 10s'],
    [982_344, 'seconds', '11d 8h'],
    [250, 'microseconds', '250 µs'],
    [41.26, 'percent', '41.3%'],
    [2.594, 'ratio', '2.59×'],
    [-5, 'count', '-5'],
    [1, 'yes-no', 'yes'],
    [0, 'level', 'well'],
    [1.5, 'level', '1.5'],
  ])('formats %s %s as "%s"', (value, unit, text) => expect(formatValue(value, unit)).toBe(text))

  it.each([null, undefined, Number.NaN, Number.POSITIVE_INFINITY])('formats %s as a dash', (value) => {
    expect(formatValue(value, 'count')).toBe('–')
  })

  it.each([
    [0, '< 1 ms'],
    [0.4, '< 1 ms'],
    [1, '1 ms'],
    [2_500, '2.5 s'],
  ])('formats a duration of %s ms as %s', (ms, text) => expect(formatElapsedTime(ms)).toBe(text))

  it.each([
    [[0, 5_000], 'milliseconds', ['0 s', '5 s']],
    [[0, 200], 'milliseconds', ['0 ms', '200 ms']],
    [[0, 7_200], 'seconds', ['0 s', '2h']],
    [[0, 1024], 'bytes', ['0 B', '1 KiB']],
  ] as const)('formats an axis of %j %s as %j', (values, unit, words) =>
    expect(formatAxisValues(values, unit)).toEqual(words),
  )

  it('keeps every digit in exact values', () => expect(formatExactValue(184_213.25, 'bytes')).toBe('184,213.25 bytes'))

  it.each([
    [59, '59s'],
    [60, '1m'],
    [3661, '1h 1m'],
    [86_400, '1d'],
    [0.2, '0s'],
  ])('formats %s seconds as "%s"', (seconds, text) => expect(formatTimeSpan(seconds)).toBe(text))
})
