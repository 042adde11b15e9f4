import { expect, it } from 'vitest'
import { groupReclaimableSpace } from './reclaimable-space.ts'

it('groups reclaimable space by cause, largest first', () => {
  const row = (what: string, table: string, freeable: number | string) => ({
    what,
    how: `${what}!`,
    database: 'shop',
    table,
    freeable,
  })
  const found = groupReclaimableSpace([row('Detached', 'a', 5), row('Aside', 'b', '3'), row('Aside', 'c', '40')])
  expect(found.map(({ what, bytes, how }) => [what, bytes, how])).toEqual([
    ['Aside', 43, 'Aside!'],
    ['Detached', 5, 'Detached!'],
  ])
  expect(found[0]?.tables.map(({ table }) => table)).toEqual(['c', 'b'])
})
