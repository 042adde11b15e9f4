import { describe, expect, it } from 'vitest'
import { findCellBeside, layOutHeatMap } from './heat-map-layout.ts'

const hourMs = 3_600_000
const series = (fromMs: number, stepMs: number, values: readonly (number | null)[]) => ({
  times: values.map((_, index) => fromMs + index * stepMs),
  series: [{ key: 'n', label: 'N', unit: 'count' as const, color: 0, values }],
})
const places = (heat: ReturnType<typeof layOutHeatMap>) => heat.cells.map(({ column, row }) => [column, row])

describe('heat map cells', () => {
  it('place days in weeks starting on Monday', () => {
    // Saturday, 21 November 2026, in Kathmandu.
    const saturday = Date.parse('2026-11-21T00:00:00+05:45')
    const heat = layOutHeatMap(series(saturday, 24 * hourMs, [1, 2, 3, 4]), 'Asia/Kathmandu')
    expect(places(heat)).toEqual([
      [0, 5],
      [0, 6],
      [1, 0],
      [1, 1],
    ])
    expect([heat.columns, heat.rows]).toEqual([2, 7])
  })

  it('place hours in days, also when daylight saving time ends', () => {
    const evening = Date.parse('2026-10-24T22:00:00+02:00')
    const heat = layOutHeatMap(series(evening, hourMs, [1, 1, 1, 1, 1, 1]), 'Europe/Berlin')
    expect(places(heat)).toEqual([
      [0, 22],
      [0, 23],
      [1, 0],
      [1, 1],
      [1, 2],
      [1, 2],
    ])
    expect([heat.columns, heat.rows]).toEqual([2, 24])
  })

  it('shade values relative to the maximum, and leave missing ones blank', () => {
    const heat = layOutHeatMap(series(0, 24 * hourMs, [5, null, 10, 0]), 'UTC')
    expect(heat.cells.map(({ shade }) => shade)).toEqual([0.5, 0, 1, 0])
    expect(layOutHeatMap(series(0, 24 * hourMs, [0, 0]), 'UTC').cells.map(({ shade }) => shade)).toEqual([0, 0])
    expect(layOutHeatMap(series(0, hourMs, []), 'UTC')).toEqual({ cells: [], columns: 0, rows: 7 })
  })
})

it('arrow keys lead to the adjacent cell, and stay at the edge', () => {
  const { cells } = layOutHeatMap(series(0, 12 * hourMs, [1, 2, 3, 4]), 'UTC')
  expect(['ArrowRight', 'ArrowDown', 'ArrowLeft', 'ArrowUp'].map((key) => findCellBeside(cells, 0, key))).toEqual([
    2, 1, 0, 0,
  ])
  expect(findCellBeside(cells, 0, 'Enter')).toBeUndefined()
})
