import { describe, expect, it } from 'vitest'
import { formatBytes, formatCount, formatSeconds, formatSparkline, formatUnit, parseMinutes } from './format.ts'
import { formatCsvLine } from './csv.ts'
import { toSeries } from './series.ts'

describe('values', () => {
  it.each([
    [formatBytes(0), '0 B'],
    [formatBytes(1024 ** 2), '1 MiB'],
    [formatBytes(1.5 * 1024 ** 3), '1.5 GiB'],
    [formatCount(950), '950'],
    [formatCount(12_345), '12.3K'],
    [formatCount(4_500_000), '4.5M'],
    [formatSeconds(0), '0 s'],
    [formatSeconds(0.25), '250 ms'],
    [formatSeconds(130), '2m 10s'],
    [formatSeconds(3_600), '1h'],
    [formatSeconds(273_600), '3d 4h'],
    [formatUnit(null, 'bytes'), '–'],
    [formatUnit(1, 'yes-no'), 'yes'],
    [formatUnit(12.345, 'percent'), '12.3%'],
    [formatUnit(2_500, 'milliseconds'), '2.5 s'],
  ])('%s is written as %s', (formatted, expected) => {
    expect(formatted).toBe(expected)
  })

  it.each([
    ['30m', 30],
    ['2h', 120],
    ['7d', 10_080],
    ['0m', undefined],
    ['1w', undefined],
    ['1.5h', undefined],
    ['', undefined],
  ])('duration %j has %j minutes', (text, minutes) => {
    expect(parseMinutes(text)).toBe(minutes)
  })

  it('are quoted in CSV', () => {
    expect(formatCsvLine(['a,b', 'say "x"', 'l1\nl2', null, 1, [1, 'b']])).toBe(
      '"a,b","say ""x""","l1\nl2",,1,"[1,""b""]"\r\n',
    )
  })
})

describe('sparklines', () => {
  it('show values from zero to the highest, and gaps', () => {
    expect(formatSparkline([0, 4, 8, null, 8], 10)).toBe('▁▅█ █')
    expect(formatSparkline([0, 0], 10)).toBe('▁▁')
    expect(formatSparkline([], 10)).toBe('')
    expect(formatSparkline([null], 10)).toBe(' ')
  })

  it('average values that do not fit', () => {
    expect(formatSparkline([0, 0, 8, 8], 2)).toBe('▁█')
    expect(
      formatSparkline(
        Array.from({ length: 1_000 }, () => 1),
        40,
      ),
    ).toHaveLength(40)
  })

  it('have one line per series, in time order, the largest first', () => {
    const columns = [
      { name: 't', role: 'time', unit: 'count' },
      { name: 'kind', role: 'series', unit: 'count' },
      { name: 'n', role: 'value', unit: 'count' },
    ] as const
    const rows = [
      { t: 2, kind: 'a', n: 1 },
      { t: 1, kind: 'b', n: 5 },
      { t: 2, kind: 'b', n: null },
    ]
    expect(toSeries({ columns: [...columns] }, rows)).toEqual([
      { name: 'b', unit: 'count', values: [5, null] },
      { name: 'a', unit: 'count', values: [null, 1] },
    ])
    expect(toSeries({ columns: [columns[2]] }, rows)).toBeUndefined()
  })
})
