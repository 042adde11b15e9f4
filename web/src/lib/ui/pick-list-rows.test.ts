import { describe, expect, it } from 'vitest'
import { filterPicks, groupIntoRows, computeRowOffsets } from './pick-list-rows.ts'

const picks = [
  { id: '1', title: 'Slow queries', detail: 'queries' },
  { id: '2', title: 'Queries', searchTerms: 'statements' },
  { id: '3', title: 'Health', group: 'Pages', searchTerms: 'alerts slow' },
]
const ids = (typed: string) => filterPicks(picks, typed).map(({ id }) => id)

describe('filterPicks', () => {
  it.each([
    ['', ['1', '2', '3']],
    ['que', ['2', '1']],
    ['slow', ['1', '3']],
    ['slow que', ['1']],
    ['PAGES', ['3']],
    ['nothing', []],
  ])('%j finds %j', (typed, expected) => expect(ids(typed)).toEqual(expected))
})

it('adds a heading per group and counts entries only', () => {
  const rows = groupIntoRows([
    { id: 'a', title: 'A', group: 'One' },
    { id: 'b', title: 'B' },
    { id: 'c', title: 'C', group: 'One' },
  ])
  expect(rows.map((row) => ('heading' in row ? row.heading : `${row.pick.id}${row.position}`))).toEqual([
    'b0',
    'One',
    'a1',
    'c2',
  ])
})

it('gives headings their own height', () => {
  const rows = groupIntoRows([
    { id: 'a', title: 'A', group: 'One' },
    { id: 'b', title: 'B', group: 'One' },
    { id: 'c', title: 'C', group: 'Two' },
  ])
  expect(computeRowOffsets(rows, { heading: 26, pick: 44 })).toEqual([0, 26, 70, 114, 140, 184])
  expect(computeRowOffsets([], { heading: 26, pick: 44 })).toEqual([0])
})
