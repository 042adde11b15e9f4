import { describe, expect, it } from 'vitest'
import {
  changedDraft,
  emptyDesk,
  givingWay,
  readDesk,
  titleOf,
  withDraft,
  withoutDraft,
  withReopened,
  withRun,
  type Desk,
} from './drafts.ts'

const draft = (id: string, sql = '') => ({ id, sql, database: '' })
const run = (sql: string, atMs = 1, host = 'one') => ({ sql, database: '', host, atMs, durationMs: 5, rows: 1 })

describe('what is kept of the console', () => {
  it('is read as it was written', () => {
    const closed = [{ draft: { ...draft('b', 'SELECT 2'), name: 'Two' }, place: 1 }]
    const past = [run('SELECT 1'), { ...run('x'), rows: null }]
    const desk: Desk = { drafts: [draft('a', 'SELECT 1')], closed, past }
    expect(readDesk(JSON.parse(JSON.stringify(desk)))).toEqual(desk)
  })

  it.each([
    [undefined],
    [null],
    ['text'],
    [{}],
    [{ drafts: 1, past: {} }],
    [{ drafts: [{ id: 1 }], closed: [{ draft: {}, place: 1 }], past: [{}] }],
  ])('is nothing when it is %j', (kept) => expect(readDesk(kept)).toEqual(emptyDesk))

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

describe('a tab that was closed', () => {
  const ids = ({ drafts }: Desk) => drafts.map(({ id }) => id).join('')
  const three = ['a', 'b', 'c'].map((id) => ({ ...draft(id, `SELECT '${id}'`), name: id.toUpperCase() }))
  const desk = three.reduce(withDraft, emptyDesk)

  it('is open again where it was, with its text and its name, the last first', () => {
    const closed = withoutDraft(withoutDraft(desk, 'b'), 'a')
    expect(ids(closed)).toBe('c')
    const once = withReopened(closed)
    expect([ids(once), once.drafts[0]]).toEqual(['ac', three[0]])
    const twice = withReopened(once)
    expect([ids(twice), twice.closed]).toEqual(['abc', []])
    expect(withReopened(twice)).toEqual(twice)
  })

  it('is not kept when nothing was in it, nor when another window opens it again by writing in it', () => {
    expect(withoutDraft(withDraft(emptyDesk, draft('a', ' ')), 'a').closed).toEqual([])
    expect(changedDraft(withoutDraft(desk, 'a'), draft('a'), { sql: 'SELECT 1' }).closed).toEqual([])
  })

  it('may have been closed by a further one, which is known before, and then comes back too', () => {
    const many = Array.from({ length: 20 }, (_, index) => draft(String(index), `SELECT ${index}`))
    const full = many.reduce(withDraft, emptyDesk)
    expect([givingWay(desk), givingWay(full)?.id]).toEqual([undefined, '0'])
    const over = withDraft(full, draft('20'))
    expect([over.drafts.length, over.drafts[0]?.id]).toEqual([20, '1'])
    const back = withReopened(over)
    expect([back.drafts.length, back.drafts[0]?.id, back.closed[0]?.draft.id]).toEqual([20, '0', '1'])
    const repeatedly = Array.from({ length: 50 }, (_, index) => draft(`later ${index}`, 'SELECT 1'))
    expect(repeatedly.reduce(withDraft, full).closed.length).toBe(20)
  })
})
