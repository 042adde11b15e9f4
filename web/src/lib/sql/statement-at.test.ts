import { EditorState } from '@codemirror/state'
import { expect, it } from 'vitest'
import { clickhouse } from './dialect.ts'
import { statementAt } from './statement-at.ts'

/** The statement where `|` stands. */
const at = (text: string) => {
  const doc = text.replace('|', '')
  const state = EditorState.create({
    doc,
    extensions: clickhouse({ keywords: [], functions: [], types: [], tables: [], areAllTables: false }).language,
  })
  const { text: chosen, from } = statementAt(state, text.indexOf('|'))
  expect(doc.slice(from).startsWith(chosen)).toBe(true)
  return chosen
}

it.each([
  ['the only one', 'SELECT| 1', 'SELECT 1'],
  ['that before the position, of several on one line', 'SELECT 1; |SELECT 2', 'SELECT 2'],
  ['that before an empty end', 'SELECT 1;\n\n|', 'SELECT 1'],
  ['the first, from what is empty before it', '|\n\nSELECT 1', 'SELECT 1'],
  ['what a comment at the end of a line is about', 'SELECT 1 -- one|', 'SELECT 1'],
  ['what a comment at its very end is about', 'SELECT 1 /* one */|', 'SELECT 1'],
  ['what a comment after its semicolon is about', 'SELECT 1; -- o|ne\nSELECT 2', 'SELECT 1'],
  ['that below a comment of its own line', 'SELECT 1;\n-- t|wo\nSELECT 2', 'SELECT 2'],
  ['the last, from a comment below all', 'SELECT 1;\nSELECT 2\n-- don|e', 'SELECT 2'],
  ['that which a comment within is part of', 'SELECT 1, -- one|\n2', 'SELECT 1, -- one\n2'],
  ['none that is empty', 'SELECT 1;;|', 'SELECT 1'],
])('is %s', (_, text, chosen) => expect(at(text)).toBe(chosen))

it('is whole, however long', () => {
  const long = `SELECT 1 WHERE 1 IN (${Array.from({ length: 40_000 }, (_, index) => index).join(', ')})`
  expect(at(`${long}|`)).toBe(long)
})
