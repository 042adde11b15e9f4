import { CompletionContext } from '@codemirror/autocomplete'
import { EditorState } from '@codemirror/state'
import { describe, expect, it } from 'vitest'
import { createCompletionSource, type CompletionProviders } from './completion.ts'

const columns: Record<string, string[]> = { 'shop.orders': ['id', 'amount'], 'shop.customers': ['country'] }

const offers: CompletionProviders = {
  vocabulary: async () => ({
    keywords: ['SELECT', 'GROUP BY'],
    functions: [{ name: 'quantileTDigest', isAggregate: true }],
    types: ['UInt64'],
    tables: [
      { database: 'shop', table: 'orders', engine: 'MergeTree' },
      { database: 'shop', table: 'customer list', engine: 'Log' },
      { database: 'logs', table: 'lines', engine: 'MergeTree' },
    ],
    areAllTables: false,
  }),
  database: () => 'shop',
  columns: async (database, table) => (columns[`${database}.${table}`] ?? []).map((name) => ({ name, type: 'UInt64' })),
  about: async () => null,
  statementAt: ({ state }) => state.doc.toString(),
}

/** Returns the completions at `|`. */
const offered = async (text: string, explicit = false) => {
  const position = text.indexOf('|')
  const state = EditorState.create({ doc: text.replace('|', '') })
  const result = await createCompletionSource(offers)(new CompletionContext(state, position, explicit))
  return result && { from: result.from, labels: result.options.map(({ label }) => label), options: result.options }
}

describe('completion', () => {
  it('offers keywords, functions, types, databases and the tables of the database', async () => {
    expect((await offered('S|'))?.labels).toEqual([
      'shop',
      'logs',
      'orders',
      'customer list',
      'quantileTDigest',
      'SELECT',
      'GROUP BY',
      'UInt64',
    ])
  })

  it('offers the columns of referenced tables first', async () => {
    const found = await offered('SELECT a| FROM orders JOIN shop.customers AS c USING id')
    expect(found?.labels.slice(0, 3)).toEqual(['id', 'amount', 'country'])
    expect(found?.options[0]?.boost).toBeGreaterThan(found?.options[3]?.boost ?? 0)
  })

  it.each([
    ['SELECT * FROM logs.|', ['lines']],
    ['SELECT c.| FROM shop.customers AS c', ['country']],
    ['SELECT orders.am| FROM orders', ['id', 'amount']],
    ['SELECT shop.orders.| FROM shop.orders', ['id', 'amount']],
    ['SELECT missing.| FROM orders', []],
  ])('offers after the dot in %j: %j', async (text, labels) => {
    expect((await offered(text))?.labels).toEqual(labels)
  })

  it('replaces only the text after the dot and quotes names if needed', async () => {
    const found = await offered('SELECT * FROM shop.cu|')
    expect(found?.from).toBe('SELECT * FROM shop.'.length)
    expect(found?.options.map(({ apply }) => apply)).toEqual(['orders', '`customer list`'])
  })

  it('opens after a space only on request', async () => {
    expect(await offered('SELECT |')).toBeNull()
    expect((await offered('SELECT |', true))?.labels).toContain('quantileTDigest')
  })
})
