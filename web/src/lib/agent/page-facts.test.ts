import { describe, expect, it } from 'vitest'
import { listPageFacts, formatPageTitle, type PageLocation } from './page-facts.ts'

const at = (address: string, route: string, parts: PageLocation['parts'] = {}): PageLocation => {
  const { pathname: path, searchParams: search } = new URL(address, 'https://watchhouse.test')
  return { route, path, parts, search }
}

describe('pageFacts', () => {
  it.each([
    ['a query', at('/queries/a-b?host=1', '/queries/[id]', { id: 'a-b' }), [{ name: 'Query id', value: 'a-b' }]],
    [
      'a fingerprint',
      at('/fingerprints/7', '/fingerprints/[hash]', { hash: '7' }),
      [{ name: 'Fingerprint', value: '7' }],
    ],
    ['a table', at('/explorer?database=shop&table=orders', '/explorer'), [{ name: 'Table', value: 'shop.orders' }]],
    ['a database', at('/explorer?database=shop', '/explorer'), [{ name: 'Database', value: 'shop' }]],
    [
      'the search text',
      at('/tables/x?filter=user.eq.ada&filter=kind.eq.Select&search=sum', '/tables/[name]', { name: 'x' }),
      [
        { name: 'Filter', value: 'user.eq.ada' },
        { name: 'Filter', value: 'kind.eq.Select' },
        { name: 'Search', value: 'sum' },
      ],
    ],
    ['nothing in particular', at('/console?sql=SELECT%201&host=0', '/console'), []],
  ])('describes %s', (_what, place, facts) => expect(listPageFacts(place)).toEqual(facts))

  it('respects the limits of the service', () => {
    const filters = Array.from({ length: 20 }, (_, index) => `filter=${index}${'x'.repeat(400)}`).join('&')
    const facts = listPageFacts(at(`/tables/x?${filters}`, '/tables/[name]', { name: 'x' }))
    expect(facts).toHaveLength(12)
    expect(facts.every(({ value }) => value.length === 300)).toBe(true)
  })
})

describe('pageTitle', () => {
  const shared = { doc: '', feature: 'QUERIES' as const, topic: 'queries' }
  const table = { ...shared, name: 'running-queries', title: 'Running queries' }
  it.each([
    ['of a menu page', at('/fleet', '/fleet'), 'Fleet'],
    [
      'of a catalogue page',
      at('/tables/running-queries', '/tables/[name]', { name: 'running-queries' }),
      'Running queries',
    ],
    ['of a detail page', at('/queries/a', '/queries/[id]', { id: 'a' }), 'Query'],
    ['of an unlisted page', at('/device', '/device'), '/device'],
  ])('is the title %s', (_where, place, title) => {
    const tables = [{ ...table, columns: [], charts: [], actions: [], parameters: [], requires: [] }]
    expect(formatPageTitle(place, { topics: [], charts: [], tables })).toBe(title)
  })
})
