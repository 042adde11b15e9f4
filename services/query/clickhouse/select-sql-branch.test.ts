import { expect, it } from 'vitest'
import { selectSqlBranch } from './capabilities.ts'

const sql = [
  { since: '24.1', sql: 'new' },
  { since: '23.8', sql: 'old' },
  { since: '24.10', sql: 'newest' },
]

it.each([
  ['23.7.9.1', undefined],
  ['23.8.1.1', 'old'],
  ['24.1.5.6', 'new'],
  ['24.9.1', 'new'],
  ['24.10.2.80', 'newest'],
  ['26.7.2.1', 'newest'],
])('selects for version %s the branch %s', (version, branch) => {
  expect(selectSqlBranch(sql, version)).toBe(branch)
})

it('uses a single statement for every version', () => {
  expect(selectSqlBranch('SELECT 1', '20.1')).toBe('SELECT 1')
})
