import { EditorState } from '@codemirror/state'
import { expect, it } from 'vitest'
import { createClickHouseDialect } from './dialect.ts'
import { findStatementAt } from './selected-statement.ts'

/** Returns the statement at `|`. */
const at = (text: string) => {
  const doc = text.replace('|', '')
  const state = EditorState.create({
    doc,
    extensions: createClickHouseDialect({ keywords: [], functions: [], types: [], tables: [], areAllTables: false })
      .language,
  })
  const { text: chosen, from } = findStatementAt(state, text.indexOf('|'))
  expect(doc.slice(from).startsWith(chosen)).toBe(true)
  return chosen
}

it.each([
  ['the only statement', 'SELECT| 1', 'SELECT 1'],
  ['the statement that begins at the cursor', 'SELECT 1; |SELECT 2', 'SELECT 2'],
  ['the statement before trailing space', 'SELECT 1;\n\n|', 'SELECT 1'],
  ['the first statement from leading space', '|\n\nSELECT 1', 'SELECT 1'],
  ['the statement before a trailing line comment', 'SELECT 1 -- one|', 'SELECT 1'],
  ['the statement before a trailing block comment', 'SELECT 1 /* one */|', 'SELECT 1'],
  ['the statement before a comment after its semicolon', 'SELECT 1; -- o|ne\nSELECT 2', 'SELECT 1'],
  ['the statement below a comment line', 'SELECT 1;\n-- t|wo\nSELECT 2', 'SELECT 2'],
  ['the last statement from a comment at the end', 'SELECT 1;\nSELECT 2\n-- don|e', 'SELECT 2'],
  ['the statement around an inner comment', 'SELECT 1, -- one|\n2', 'SELECT 1, -- one\n2'],
  ['no empty statement', 'SELECT 1;;|', 'SELECT 1'],
])('returns %s', (_, text, chosen) => expect(at(text)).toBe(chosen))

it('returns long statements in full', () => {
  const long = `SELECT 1 WHERE 1 IN (${Array.from({ length: 40_000 }, (_, index) => index).join(', ')})`
  expect(at(`${long}|`)).toBe(long)
})
