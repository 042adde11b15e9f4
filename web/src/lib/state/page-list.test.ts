import { describe, expect, it } from 'vitest'
import { isSamePage, parsePageList, prependPage, removePage } from './page-list.ts'

const slow = { path: '/tables/slow-queries', title: 'Slow queries' }
const parts = { path: '/parts', title: 'Parts' }

describe('stored page lists', () => {
  it.each([
    ['nothing', undefined],
    ['another type', { path: '/parts' }],
    ['entries that are not pages', [null, 3, 'x', {}, { path: '/parts' }, { path: 7, title: 'Parts' }]],
    ['an entry without a title', [{ path: '/parts', title: '' }]],
    [
      'addresses of other sites',
      [
        { path: '//evil.example', title: 'Parts' },
        { path: 'https://a.example', title: 'A' },
      ],
    ],
    ['a path that is too long', [{ path: `/${'a'.repeat(500)}`, title: 'Parts' }]],
  ])('ignore %s', (_what, stored) => expect(parsePageList(stored, 5)).toEqual([]))

  it('keep valid pages only once, without unknown fields, up to the limit', () => {
    const stored = [{ ...slow, more: 1 }, parts, slow, { path: '/about', title: 'About' }]
    expect(parsePageList(stored, 2)).toEqual([slow, parts])
  })
})

describe('a page list', () => {
  it('moves a page to its beginning, with its latest filters', () => {
    const filtered = { ...slow, path: '/tables/slow-queries?filter=user.eq.a' }
    expect(prependPage([parts, slow], filtered, 5)).toEqual([filtered, parts])
  })

  it('shortens long titles, so that they stay valid', () => {
    expect(prependPage([], { path: '/queries/x', title: 'q'.repeat(300) }, 5)).toEqual([
      { path: '/queries/x', title: 'q'.repeat(120) },
    ])
  })

  it('distinguishes subjects of one page, but not its filters', () => {
    const table = { path: '/explorer?database=shop&table=orders', title: 'shop.orders' }
    expect(isSamePage(table, { path: '/explorer?database=shop&table=users', title: 'shop.users' })).toBe(false)
    expect(removePage([slow, parts], { ...slow, path: '/tables/slow-queries?sort=user' })).toEqual([parts])
  })

  it('keeps the star of a dashboard that is renamed', () => {
    const dashboard = { path: '/dashboards/d-1', title: 'Load' }
    expect(isSamePage(dashboard, { path: '/dashboards/d-1?var-user=a', title: 'Load of users' })).toBe(true)
    expect(isSamePage(dashboard, { path: '/dashboards/d-2', title: 'Load' })).toBe(false)
  })
})
