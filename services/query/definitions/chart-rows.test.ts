import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { checkChart } from './check.ts'
import { openDefinitions } from './definitions.ts'

const { charts, tables, rules } = await openDefinitions(pino({ level: 'silent' }))
const hrefs = [
  ...charts.flatMap(({ name, href, columns }) =>
    [href, ...columns.map((column) => column.href)].map((path) => ({ name, path })),
  ),
  ...rules.map(({ name, href }) => ({ name, path: href })),
]
const paths = hrefs.flatMap(({ name, path }) => (path === undefined ? [] : [{ name, path }]))

/** Returns what a path requests that its table page does not have. */
const findUnknownParts = (path: string): string[] => {
  const { pathname, searchParams } = new URL(path, 'http://localhost')
  if (pathname.startsWith('/fingerprints/')) return []
  if (pathname === '/changes') return [...searchParams.keys()].filter((name) => name !== 'kind')
  const table = tables.find(({ name }) => pathname === `/tables/${name}`)
  if (!table) return [pathname]
  const columns = new Set(table.columns.map(({ name }) => name))
  return [...searchParams].flatMap(([name, value]) => {
    if (name.startsWith('p.')) return table.parameters.some((parameter) => `p.${parameter.name}` === name) ? [] : [name]
    const known = (name === 'filter' || name === 'sort') && columns.has(value.split('.')[0] ?? '')
    return known ? [] : [`${name}=${value}`]
  })
}

describe('the page with the rows behind a chart', () => {
  it.each(paths)('of $name has the filters of $path', ({ path }) => {
    expect(findUnknownParts(path)).toEqual([])
  })

  it('is checked for pages, columns and parameters', () => {
    expect(findUnknownParts('/tables/nothing')).toEqual(['/tables/nothing'])
    expect(findUnknownParts('/tables/failed-queries?filter=none.eq.1&p.none=1&sort=user.desc')).toEqual([
      'filter=none.eq.1',
      'p.none',
    ])
  })

  it('takes its placeholders from the columns of the chart', () => {
    const chart = charts.find(({ name }) => name === 'query-count')
    expect(chart && checkChart({ ...chart, href: '/tables/failed-queries?filter=user.eq.{user}' })).toEqual([
      'href: unknown column "user"',
    ])
  })

  it('is defined for every chart of the query log over time', () => {
    const topics = new Set(['queries', 'query-insights'])
    const listed = new Set(tables.flatMap((table) => table.charts))
    const without = charts.filter(
      ({ name, topic, href, columns }) =>
        topics.has(topic) && href === undefined && !listed.has(name) && columns.some(({ role }) => role === 'time'),
    )
    expect(without.map(({ name }) => name)).toEqual([])
  })
})
