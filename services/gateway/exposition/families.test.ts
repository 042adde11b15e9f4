import { describe, expect, it } from 'vitest'
import { parseExposition, findSampleValue } from '../../testing/exposition-format.ts'
import { createMetricFamilies } from './families.ts'
import { parseSelector } from './selector.ts'

const hostText = (value: number): string =>
  `# HELP b The second\n# TYPE b gauge\nb ${value}\n# TYPE a gauge\na ${value + 1}\n`

describe('metric families of several hosts', () => {
  it('are grouped by name, with the labels of each host', () => {
    const families = createMetricFamilies(undefined)
    families.add(hostText(1), { host: '0' })
    families.add(`${hostText(5)}# TYPE c gauge\nc NaN\n`, { host: '1' })
    expect(families.text()).toBe(
      [
        '# TYPE a gauge\na{host="0"} 2\na{host="1"} 6\n',
        '# HELP b The second\n# TYPE b gauge\nb{host="0"} 1\nb{host="1"} 5\n',
        '# TYPE c gauge\nc{host="1"} NaN\n',
      ].join(''),
    )
  })

  it('escape label values', () => {
    const families = createMetricFamilies(undefined)
    families.declare('info', 'Always 1.')({ name: 'a "b"\\c\nd}' }, 1)
    expect(findSampleValue(parseExposition(families.text()), 'info', { name: 'a "b"\\c\nd}' })).toBe(1)
  })

  it('contain the series that any selector matches, and no metric without series', () => {
    const families = createMetricFamilies(['a{host="0"}', '{host="1",__name__="b"}', 'none'].map(parseSelector))
    families.declare('none', 'Nothing.')
    for (const host of ['0', '1']) families.add(hostText(1), { host })
    const read = parseExposition(families.text())
    const series = [...read].flatMap(([name, { samples }]) =>
      [...samples.values()].map(({ labels }) => `${name} ${labels.host}`),
    )
    expect(series).toEqual(['a 0', 'b 1'])
  })

  it('are empty when no series match', () => {
    const families = createMetricFamilies([parseSelector('none')])
    families.add(hostText(1), { host: '0' })
    expect(families.text()).toBe('')
  })
})
