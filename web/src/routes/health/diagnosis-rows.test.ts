import { describe, expect, it } from 'vitest'
import { toDiagnosisColumns, toDiagnosisRows } from './diagnosis-rows.ts'

const diagnosis = {
  columns: ['table', 'part_count'],
  rows: [
    ['a', 9],
    ['b', 10],
    ['c', 1],
  ],
}

describe('diagnosis', () => {
  it('names columns as returned, numeric only if all cells are numbers', () => {
    expect(toDiagnosisColumns(diagnosis)).toMatchObject([
      { name: 'table', label: 'table', format: 'text' },
      { name: 'part_count', label: 'part count', format: 'number' },
    ])
  })

  it('keeps the order of the host by default', () => {
    const tables = (direction: 'asc' | 'desc' | null) =>
      toDiagnosisRows(diagnosis, direction && { column: 'part_count', direction }).map(({ table }) => table)
    expect(tables(null)).toEqual(['a', 'b', 'c'])
    expect(tables('asc')).toEqual(['c', 'a', 'b'])
    expect(tables('desc')).toEqual(['b', 'a', 'c'])
  })
})
