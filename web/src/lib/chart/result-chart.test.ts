import { describe, expect, it } from 'vitest'
import { toChartData, createDefaultChartSpec } from './result-chart.ts'

const columns = (...types: string[]) => types.map((type, index) => ({ name: `n${index}`, type }))

describe('default chart of a result', () => {
  it.each([
    [['DateTime', 'UInt64', 'Float64'], { kind: 'line', along: 0, series: null, values: [1, 2] }],
    [['UInt64', 'LowCardinality(String)', 'Date'], { kind: 'line', along: 2, series: 1, values: [0] }],
    [['String', 'UInt64'], { kind: 'horizontal-bar', along: 0, series: null, values: [1] }],
    [['UInt64'], null],
    [['String'], null],
    [[], null],
  ])('for %j is %j', (types, drawing) => expect(createDefaultChartSpec(columns(...types))).toEqual(drawing))
})

describe('result as chart', () => {
  it('keeps the instants of the host, with a series per name', () => {
    const data = {
      columns: columns('DateTime', 'String', 'UInt64'),
      rows: [
        ['2026-11-21 18:14:24', 'a', '5'],
        ['bad', 'a', 1],
      ],
    }
    const chart = toChartData(data, { kind: 'area', along: 0, series: 1, values: [2] })
    expect(chart.chart.kind).toBe('area')
    expect(chart.chart.columns.map(({ name, role }) => [name, role])).toEqual([
      ['c0', 'time'],
      ['c1', 'series'],
      ['c2', 'value'],
    ])
    expect(chart.rows).toEqual([{ c0: Date.parse('2026-11-21T18:14:24Z'), c1: 'a', c2: '5' }])
  })

  it('is a bar chart over names, regardless of the selected type', () => {
    const data = { columns: columns('String', 'UInt64'), rows: [['a', 1]] }
    const { chart, rows } = toChartData(data, { kind: 'line', along: 0, series: null, values: [1] })
    expect([chart.kind, rows.length]).toEqual(['horizontal-bar', 1])
  })

  it('starts days at midnight', () => {
    const data = { columns: columns('Date', 'UInt64'), rows: [['2026-11-21', 1]] }
    const { rows } = toChartData(data, { kind: 'horizontal-bar', along: 0, series: null, values: [1] })
    expect(rows[0]).toMatchObject({ c0: Date.parse('2026-11-21T00:00:00Z') })
  })
})
