import { describe, expect, it } from 'vitest'
import {
  updateDraft,
  emptyWorkspace,
  findDraftToClose,
  readWorkspace,
  formatDraftTitle,
  addDraft,
  closeDraft,
  reopenDraft,
  addPastRun,
  type Workspace,
} from './drafts.ts'

const draft = (id: string, sql = '') => ({ id, sql, database: '' })
const run = (sql: string, atMs = 1, host = 'one') => ({ sql, database: '', host, atMs, durationMs: 5, rows: 1 })

describe('stored workspace', () => {
  it('is restored unchanged', () => {
    const closed = [{ draft: { ...draft('b', 'SELECT 2'), name: 'Two' }, place: 1 }]
    const past = [run('SELECT 1'), { ...run('x'), rows: null }]
    const workspace: Workspace = { drafts: [draft('a', 'SELECT 1')], closed, past }
    expect(readWorkspace(JSON.parse(JSON.stringify(workspace)))).toEqual(workspace)
  })

  it.each([
    [undefined],
    [null],
    ['text'],
    [{}],
    [{ drafts: 1, past: {} }],
    [{ drafts: [{ id: 1 }], closed: [{ draft: {}, place: 1 }], past: [{}] }],
  ])('is empty when it is %j', (kept) => expect(readWorkspace(kept)).toEqual(emptyWorkspace))

  it('respects its limits', () => {
    const many = Array.from({ length: 300 }, (_, index) => index)
    const drafts = many.reduce((workspace, index) => addDraft(workspace, draft(String(index))), emptyWorkspace).drafts
    const { past } = many.reduce((workspace, index) => addPastRun(workspace, run(`SELECT ${index}`)), emptyWorkspace)
    expect([drafts.length, drafts.at(-1)?.id]).toEqual([20, '299'])
    expect([past.length, past[0]?.sql]).toEqual([200, 'SELECT 299'])
    expect(addPastRun(emptyWorkspace, run('x'.repeat(20_001)))).toEqual(emptyWorkspace)
  })
})

it('lists a statement on a host once, with its last run', () => {
  const workspace = [run('a', 1), run('b', 2), run('a', 3), run('a', 4, 'two')].reduce(addPastRun, emptyWorkspace)
  expect(workspace.past.map(({ sql, atMs, host }) => [sql, atMs, host])).toEqual([
    ['a', 4, 'two'],
    ['a', 3, 'one'],
    ['b', 2, 'one'],
  ])
})

it('changes and closes a single draft', () => {
  const workspace = [draft('a'), draft('b')].reduce(addDraft, emptyWorkspace)
  expect(updateDraft(workspace, draft('b'), { sql: 'SELECT 2' }).drafts.map(({ sql }) => sql)).toEqual(['', 'SELECT 2'])
  expect(closeDraft(workspace, 'a').drafts.map(({ id }) => id)).toEqual(['b'])
})

it.each([
  ['', 'New query'],
  ['  SELECT\n  1 ', 'SELECT 1'],
  ['-- why\nSELECT 1', 'SELECT 1'],
  ['/* why,\nand whence */ SELECT 1', 'SELECT 1'],
  ['SELECT a_long_name, another_one FROM t', 'SELECT a_long_name, another_…'],
])('titles a tab with %j "%s"', (sql, title) => expect(formatDraftTitle(draft('a', sql))).toBe(title))

it('uses the name of a tab as its title', () =>
  expect(formatDraftTitle({ ...draft('a', 'SELECT 1'), name: 'Slow ones' })).toBe('Slow ones'))

it('reopens a draft that another window closed while it is edited', () =>
  expect(updateDraft(emptyWorkspace, draft('a', 'SELECT'), { sql: 'SELECT 1' }).drafts).toEqual([
    draft('a', 'SELECT 1'),
  ]))

describe('closed tab', () => {
  const ids = ({ drafts }: Workspace) => drafts.map(({ id }) => id).join('')
  const three = ['a', 'b', 'c'].map((id) => ({ ...draft(id, `SELECT '${id}'`), name: id.toUpperCase() }))
  const workspace = three.reduce(addDraft, emptyWorkspace)

  it('is reopened at its position with text and name, last closed first', () => {
    const closed = closeDraft(closeDraft(workspace, 'b'), 'a')
    expect(ids(closed)).toBe('c')
    const once = reopenDraft(closed)
    expect([ids(once), once.drafts[0]]).toEqual(['ac', three[0]])
    const twice = reopenDraft(once)
    expect([ids(twice), twice.closed]).toEqual(['abc', []])
    expect(reopenDraft(twice)).toEqual(twice)
  })

  it('is not stored when it is empty or reopened by another window', () => {
    expect(closeDraft(addDraft(emptyWorkspace, draft('a', ' ')), 'a').closed).toEqual([])
    expect(updateDraft(closeDraft(workspace, 'a'), draft('a'), { sql: 'SELECT 1' }).closed).toEqual([])
  })

  it('is also stored when another tab displaced it', () => {
    const many = Array.from({ length: 20 }, (_, index) => draft(String(index), `SELECT ${index}`))
    const full = many.reduce(addDraft, emptyWorkspace)
    expect([findDraftToClose(workspace), findDraftToClose(full)?.id]).toEqual([undefined, '0'])
    const over = addDraft(full, draft('20'))
    expect([over.drafts.length, over.drafts[0]?.id]).toEqual([20, '1'])
    const back = reopenDraft(over)
    expect([back.drafts.length, back.drafts[0]?.id, back.closed[0]?.draft.id]).toEqual([20, '0', '1'])
    const repeatedly = Array.from({ length: 50 }, (_, index) => draft(`later ${index}`, 'SELECT 1'))
    expect(repeatedly.reduce(addDraft, full).closed.length).toBe(20)
  })
})
