import { expect, it } from 'vitest'
import { sortRows } from './sort-rows.ts'

const rows = [
  { name: 'b10', size: 2 },
  { name: 'b9', size: null },
  { name: 'a', size: 11 },
]
const names = (sort: Parameters<typeof sortRows>[1]) => sortRows(rows, sort).map(({ name }) => name)

it.each([
  [null, ['b10', 'b9', 'a']],
  [{ column: 'name', direction: 'asc' }, ['a', 'b9', 'b10']],
  [{ column: 'name', direction: 'desc' }, ['b10', 'b9', 'a']],
  [{ column: 'size', direction: 'asc' }, ['b10', 'a', 'b9']],
  [{ column: 'size', direction: 'desc' }, ['a', 'b10', 'b9']],
] as const)('sorts by %j to %j', (sort, expected) => expect(names(sort)).toEqual(expected))
