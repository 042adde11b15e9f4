import { describe, expect, it } from 'vitest'
import { ChartInfo } from '#proto/catalogue.ts'
import { toValueRows } from './value-rows.ts'

const column = (name: string, role: string) => ({ name, role })
const time = { name: 'at', role: 'time', unit: 'none' }
const chartOf = (columns: object[], kind = 'line') =>
  ChartInfo.parse({
    name: 'some-chart',
    topic: 'queries',
    title: 'Some chart',
    doc: 'It shows.',
    feature: 'METRICS',
    kind,
    columns,
  })
const minute = (at: number) => String(at * 60_000)

describe('value rows of a chart', () => {
  const bySeries = chartOf([time, column('kind', 'series'), column('queries', 'value')])
  const row = (at: number, kind: string, queries: unknown) => ({ at: minute(at), kind, queries })

  it('are sorted newest first, with a column per series, largest first', () => {
    const rows = [row(1, 'Insert', 1), row(2, 'Insert', 2), row(1, 'Select', '10'), row(3, 'Select', 30), row(3, '', 1)]
    const { columns, rows: lines } = toValueRows(bySeries, rows)
    expect(columns.map(({ name, label }) => label ?? name)).toEqual(['at', 'Select', 'Insert', '(none)'])
    expect(lines.map((line) => columns.map(({ name }) => line[name]))).toEqual([
      [minute(3), 30, undefined, 1],
      [minute(2), undefined, 2, undefined],
      [minute(1), '10', 1, undefined],
    ])
  })

  it('keep names in a column when there are too many series or duplicates at an instant', () => {
    const many = Array.from({ length: 13 }, (_, index) => row(index < 5 ? 1 : 2, `name ${index}`, index))
    for (const rows of [many, [row(1, 'Insert', 1), row(2, 'Insert', 2), row(2, 'Insert', 3)]]) {
      const table = toValueRows(bySeries, rows)
      expect(table.columns).toEqual(bySeries.columns)
      expect([table.rows.length, table.rows[0]?.['at'], table.rows.at(-1)?.['at']]).toEqual([
        rows.length,
        minute(2),
        minute(1),
      ])
    }
  })

  it('keep the columns of charts with several value columns', () => {
    const values = chartOf([time, column('average', 'value'), column('highest', 'value')])
    const rows = [
      { at: minute(1), average: 1, highest: 2 },
      { at: minute(2), average: 3, highest: 4 },
    ]
    expect(toValueRows(values, rows)).toEqual({ columns: values.columns, rows: rows.toReversed() })
    const both = chartOf([time, column('disk', 'series'), column('used', 'value'), column('free', 'value')])
    expect(toValueRows(both, []).columns).toEqual(both.columns)
  })

  it('distinguish series names from column names', () => {
    const { columns, rows } = toValueRows(bySeries, [row(1, 'at', 5)])
    expect(rows.map((line) => columns.map(({ name }) => line[name]))).toEqual([[minute(1), 5]])
  })
})

it('keeps the order of the host without a time axis', () => {
  const rank = chartOf([column('table', 'label'), column('bytes', 'value')], 'bar')
  const list = chartOf([time, column('what', 'label')], 'list')
  const rows = [
    { at: minute(1), table: 'b' },
    { at: minute(2), table: 'a' },
  ]
  for (const chart of [rank, list]) expect(toValueRows(chart, rows)).toEqual({ columns: chart.columns, rows })
})
