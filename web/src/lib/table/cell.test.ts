import { expect, it } from 'vitest'
import { isNumeric, alignColumn, toCell } from './cell.ts'
import { formatColumnWidth, computeColumnWidth, formatTableWidth } from './column-width.ts'
import { createColumn } from './columns.ts'

const context = { zone: 'UTC', nowMs: 0, link: (path: string) => path }
const state = createColumn('status', 'State', 'badge', {
  states: { BACKUP_CREATED: { word: 'Created', status: 'ok' } },
})

it('shows the label of a state with the raw value as tooltip, and unknown states as they are', () => {
  expect(toCell(state, { status: 'BACKUP_CREATED' }, context)).toMatchObject({
    text: 'Created',
    title: 'BACKUP_CREATED',
    state: { status: 'ok' },
  })
  expect(toCell(state, { status: 'NEW_WORD' }, context)).toEqual({ text: 'NEW_WORD', title: 'NEW_WORD' })
})

it('reserves width for the padding and capitals of badges', () => {
  const width = (status: string) => computeColumnWidth(createColumn('status', 'S', 'badge'), [{ status }], context)
  expect([width('not_loaded'), width('NOT_LOADED')]).toEqual([12, 15])
})

it('shows truncated text, links and lists in full in the tooltip', () => {
  const link = createColumn('id', 'Id', 'link', { href: '/queries/{id}' })
  expect(toCell(link, { id: 'one' }, context)).toEqual({ text: 'one', title: 'one', href: '/queries/one' })
  expect(toCell(createColumn('names', 'N', 'list'), { names: ['a', 'b'] }, context)).toEqual({
    text: 'a, b',
    title: 'a, b',
  })
})

it('limits long columns on narrow screens, and includes that in the total width', () => {
  expect([formatColumnWidth(8), formatColumnWidth(44)]).toEqual([
    'calc(8ch + 1.75rem)',
    'calc(min(44ch, 55vw) + 1.75rem)',
  ])
  expect(formatTableWidth([8, null], 32)).toBe('calc(calc(8ch + 1.75rem) + calc(min(32ch, 55vw) + 1.75rem))')
})

it('right-aligns linked counts, but not ids made of digits', () => {
  const link = createColumn('of', 'Of', 'link', { href: '/parts?table={of}' })
  const isFlush = (values: unknown[]) =>
    isNumeric(
      alignColumn(
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

it('limits the width of query ids', () => {
  const rows = [{ query_id: '49f1946d-b6a9-4850-a7fe-e71f0f219c5a' }]
  const link = (href: string) =>
    computeColumnWidth(createColumn('query_id', 'Query id', 'link', { href }), rows, context)
  expect([link('/queries/{query_id}'), link('/elsewhere/{query_id}')]).toEqual([14, 36])
})
