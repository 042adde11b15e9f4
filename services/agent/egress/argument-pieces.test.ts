import { describe, expect, it } from 'vitest'
import { splitArguments } from './argument-pieces.ts'
import { openHostText } from './host-text.ts'

const schema = {
  type: 'object',
  properties: {
    query: { type: 'string' },
    sources: { type: 'array', items: { anyOf: [{ type: 'object', properties: { category: {} } }] } },
  },
}
const piecesWith = (input: Record<string, unknown>, ...results: unknown[]) => {
  const hostText = openHostText()
  for (const result of results) hostText.add(result)
  return splitArguments(input, schema, (texts) => hostText.find(texts, 'web_crawl'))
}

describe('the arguments of a call', () => {
  it('are listed in full, each with its path', () => {
    const input = { query: 'a', sources: [{ category: 'b', limit: 3 }], empty: {}, '': 5, none: null }
    expect(piecesWith(input).arguments.map(({ name, value }) => [name[0]?.text ?? '', value[0]?.text])).toEqual([
      ['query', 'a'],
      ['sources.0.category', 'b'],
      ['sources.0.limit', '3'],
      ['empty', '{}'],
      ['', '5'],
      ['none', 'null'],
    ])
  })

  it.each<[Record<string, unknown>, boolean]>([
    [{ query: 'merges' }, false],
    [{ query: 'category' }, true],
    [{ sources: [{ category: 'web' }] }, false],
    [{ sources: [{ category: 'web', hunter2: 'web' }] }, true],
    [{ hunter2: { query: 'web' } }, true],
    [{ 4821: 'web' }, true],
  ])('%j contains text of a host, apart from names of the schema: %s', (input, hasHostText) => {
    const columns = { columns: [{ name: 'query' }, { name: 'category' }], rows: [['hunter2', 4821]] }
    expect(piecesWith(input, columns).hasHostText).toBe(hasHostText)
  })
})
