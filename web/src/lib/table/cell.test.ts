import { expect, it } from 'vitest'
import { isNumeric, setFlush, toCell } from './cell.ts'
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

it('sets a count that leads somewhere as other numbers are set, and an id made of digits as a text', () => {
  const link = column('of', 'Of', 'link', { href: '/parts?table={of}' })
  const isFlush = (values: unknown[]) =>
    isNumeric(
      setFlush(
        link,
        values.map((of) => ({ of })),
      ),
    )
  expect([isFlush([5, 104, null]), isFlush(['12330981374349800572']), isFlush([1, '2']), isFlush([])]).toEqual([
    true,
    false,
    false,
    false,
  ])
})

it('leaves the room of a query id to the statement beside it', () => {
  const rows = [{ query_id: '49f1946d-b6a9-4850-a7fe-e71f0f219c5a' }]
  const link = (href: string) => columnWidth(column('query_id', 'Query id', 'link', { href }), rows, context)
  expect([link('/queries/{query_id}'), link('/elsewhere/{query_id}')]).toEqual([14, 36])
})
