import { expect, it } from 'vitest'
import { toCell } from './cell.ts'
import { columnSize, columnWidth, tableSize } from './column-width.ts'
import { column } from './columns.ts'

const context = { zone: 'UTC', nowMs: 0, link: (path: string) => path }
const state = column('status', 'State', 'badge', { states: { BACKUP_CREATED: { word: 'Made', stands: 'ok' } } })

it('a state is told by its word, with what the host calls it beside it; one that nobody named as it is', () => {
  expect(toCell(state, { status: 'BACKUP_CREATED' }, context)).toMatchObject({
    text: 'Made',
    title: 'BACKUP_CREATED',
    state: { stands: 'ok' },
  })
  expect(toCell(state, { status: 'NEW_WORD' }, context)).toEqual({ text: 'NEW_WORD', title: 'NEW_WORD' })
})

it('a badge has room for its edges, and for capitals, which are wide', () => {
  const width = (status: string) => columnWidth(column('status', 'S', 'badge'), [{ status }], context)
  expect([width('not_loaded'), width('NOT_LOADED')]).toEqual([12, 15])
})

it('a text that its column may cut is told whole by its title, a link and a list too', () => {
  const link = column('id', 'Id', 'link', { href: '/queries/{id}' })
  expect(toCell(link, { id: 'one' }, context)).toEqual({ text: 'one', title: 'one', href: '/queries/one' })
  expect(toCell(column('names', 'N', 'list'), { names: ['a', 'b'] }, context)).toEqual({ text: 'a, b', title: 'a, b' })
})

it('leaves room beside a long column on a narrow screen, and counts that in the width of all', () => {
  expect([columnSize(8), columnSize(44)]).toEqual(['calc(8ch + 1.75rem)', 'calc(min(44ch, 55vw) + 1.75rem)'])
  expect(tableSize([8, null], 32)).toBe('calc(calc(8ch + 1.75rem) + calc(min(32ch, 55vw) + 1.75rem))')
})
