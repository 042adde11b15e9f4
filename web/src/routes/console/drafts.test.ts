import { describe, expect, it } from 'vitest'
import { changedDraft, emptyDesk, readDesk, titleOf, withDraft, withoutDraft, withRun, type Desk } from './drafts.ts'

const draft = (id: string, sql = '') => ({ id, sql, database: '' })
const run = (sql: string, atMs = 1, host = 'one') => ({ sql, database: '', host, atMs, durationMs: 5, rows: 1 })

describe('what is kept of the console', () => {
  it('is read as it was written', () => {
    const desk: Desk = { drafts: [draft('a', 'SELECT 1')], past: [run('SELECT 1'), { ...run('x'), rows: null }] }
    expect(readDesk(JSON.parse(JSON.stringify(desk)))).toEqual(desk)
  })

  it.each([[undefined], [null], ['text'], [{}], [{ drafts: 1, past: {} }], [{ drafts: [{ id: 1 }], past: [{}] }]])(
    'is nothing when it is %j',
    (kept) => expect(readDesk(kept)).toEqual(emptyDesk),
  )

  it('never grows beyond its bounds', () => {
    const many = Array.from({ length: 300 }, (_, index) => index)
    const drafts = many.reduce((desk, index) => withDraft(desk, draft(String(index))), emptyDesk).drafts
    const { past } = many.reduce((desk, index) => withRun(desk, run(`SELECT ${index}`)), emptyDesk)
    expect([drafts.length, drafts.at(-1)?.id]).toEqual([20, '299'])
    expect([past.length, past[0]?.sql]).toEqual([200, 'SELECT 299'])
    expect(withRun(emptyDesk, run('x'.repeat(20_001)))).toEqual(emptyDesk)
  })
})

it('tells a statement of a host once, as it was run last', () => {
  const desk = [run('a', 1), run('b', 2), run('a', 3), run('a', 4, 'two')].reduce(withRun, emptyDesk)
  expect(desk.past.map(({ sql, atMs, host }) => [sql, atMs, host])).toEqual([
    ['a', 4, 'two'],
    ['a', 3, 'one'],
    ['b', 2, 'one'],
  ])
})

it('changes and closes one draft alone', () => {
  const desk = [draft('a'), draft('b')].reduce(withDraft, emptyDesk)
  expect(changedDraft(desk, draft('b'), { sql: 'SELECT 2' }).drafts.map(({ sql }) => sql)).toEqual(['', 'SELECT 2'])
  expect(withoutDraft(desk, 'a').drafts.map(({ id }) => id)).toEqual(['b'])
})

it.each([
  ['', 'New'],
  ['  SELECT\n  1 ', 'SELECT 1'],
  ['-- why\nSELECT 1', 'SELECT 1'],
  ['/* why,\nand whence */ SELECT 1', 'SELECT 1'],
  ['SELECT a_long_name, another_one FROM t', 'SELECT a_long_name, another_…'],
])('calls a tab with %j "%s"', (sql, title) => expect(titleOf(draft('a', sql))).toBe(title))

it('calls a tab what somebody calls it', () =>
  expect(titleOf({ ...draft('a', 'SELECT 1'), name: 'Slow ones' })).toBe('Slow ones'))

it('has a draft again that another window has closed while it is written', () =>
  expect(changedDraft(emptyDesk, draft('a', 'SELECT'), { sql: 'SELECT 1' }).drafts).toEqual([draft('a', 'SELECT 1')]))
