import { describe, expect, it } from 'vitest'
import type { Catalogue } from '#proto/catalogue.ts'
import { routes } from '../../../tests/routes.ts'
import { menuGroups } from './menu-groups.ts'
import { menuTexts } from './menu-texts.ts'
import {
  chooseOpenGroups,
  filterMenuGroups,
  findPathGroup,
  getGroupPath,
  listGroupPages,
  readMenuChoices,
} from './menu.ts'

const offers = {
  managedHosts: true,
  storedConnections: true,
  management: true,
  subscriptions: true,
  deployments: true,
  postgresSource: true,
  replicationService: true,
  pageViews: true,
}
type Context = Parameters<typeof filterMenuGroups>[0]
const context: Context = { isOffered: () => true, mayWrite: true, offers, catalogue: undefined }
const pathsFor = (more: Partial<Context>) =>
  filterMenuGroups({ ...context, ...more })
    .flatMap(listGroupPages)
    .map(({ path }) => path)

const table = (name: string, topic: string) => ({ name, topic, title: name }) as Catalogue['tables'][number]
const catalogue: Catalogue = {
  topics: [],
  tables: [table('slow-queries', 'queries'), table('backups', 'storage'), table('own', 'custom-topic')],
  charts: [],
} as unknown as Catalogue

describe('menu', () => {
  it('contains all pages when everything is enabled and permitted, each once', () => {
    const paths = pathsFor({})
    expect(paths).toEqual(
      expect.arrayContaining(['/audit', '/management', '/alerts/webhooks', '/mcp', '/about', '/tables/slow-queries']),
    )
    expect(paths.filter((path, index) => paths.indexOf(path) !== index)).toEqual([])
  })

  it('has a route for each entry', () => {
    const patterns = routes.map((route) => new RegExp(`^${route.replaceAll(/\[+\w+\]+/g, '[^/]+')}$`))
    const missing = [...pathsFor({}), ...menuGroups.map(getGroupPath)].filter(
      (path) =>
        !patterns.some((pattern) => pattern.test(path)) && !routes.some((route) => route.startsWith(`${path}/[[`)),
    )
    expect(missing).toEqual([])
  })

  it('has an entry for each route without parameters, except those that other pages lead to', () => {
    const reachedByOthers = new Set(['/', '/device', '/sign-in'])
    const pages = routes.filter((route) => !route.includes('['))
    expect(pages.filter((route) => !pathsFor({}).includes(route) && !reachedByOthers.has(route))).toEqual([])
  })

  it('has a text about each page outside of the catalogue, and none about others', () => {
    const paths = pathsFor({})
    expect(
      paths.filter((path) => !path.startsWith('/tables/') && path !== '/overview' && !menuTexts[path]?.doc),
    ).toEqual([])
    expect(Object.keys(menuTexts).filter((path) => !paths.includes(path))).toEqual([])
  })

  it('hides pages of disabled features, and groups without pages', () => {
    const groups = filterMenuGroups({
      ...context,
      isOffered: (feature) => feature === 'ABOUT',
      catalogue: { ...catalogue, tables: [] },
    })
    expect(groups.map(({ id }) => id)).toEqual(['data', 'settings'])
    expect(groups.flatMap(listGroupPages).map(({ path }) => path)).toEqual([
      '/postgres',
      '/setup',
      '/hosts',
      '/api-keys',
      '/about',
    ])
  })

  it.each([
    ['/audit', { mayWrite: false }],
    ['/management', { offers: { ...offers, management: false } }],
    ['/alerts/webhooks', { offers: { ...offers, subscriptions: false } }],
    ['/alerts/webhooks', { offers: undefined }],
    ['/tables/failed-queries', { catalogue }],
    ['/topics/keeper', { catalogue }],
  ])('hides %s with %j', (path, more) => {
    expect(pathsFor(more)).not.toContain(path)
    expect(pathsFor(more)).toContain('/overview')
  })

  it.each([
    ['/overview', 'overview'],
    ['/health', 'alerts'],
    ['/alerts/rules', 'alerts'],
    ['/queries/3f0c1a52', 'queries'],
    ['/fingerprints/123', 'queries'],
    ['/tables/slow-queries', 'queries'],
    ['/tables/backups', 'data'],
    ['/tables/own', 'fleet'],
    ['/topics/keeper', 'replication'],
    ['/repldb/mirrors/orders', 'replication'],
    ['/docs/api', 'settings'],
    ['/browse/data', 'data'],
    ['/browse', undefined],
    ['/tables/unknown', undefined],
    ['/nowhere', undefined],
  ])('knows the group of %s', (path, group) => expect(findPathGroup(path, catalogue)).toBe(group))
})

describe('open groups', () => {
  const groups = filterMenuGroups({
    ...context,
    offers: { ...offers, postgresSource: false, replicationService: false },
  })
  const heights = { row: 24, gap: 2 }
  const openAt = (available: number, current?: Parameters<typeof chooseOpenGroups>[1]) => [
    ...chooseOpenGroups(groups, current, 2, { ...heights, available }),
  ]

  it('are the most used ones on a laptop', () => {
    expect(openAt(840)).toEqual(['queries', 'data', 'replication'])
    expect(openAt(840, 'data')).toEqual(['data', 'queries', 'replication'])
  })

  it('include that of the page, and never need more height than there is', () => {
    for (const { id } of groups) {
      const open = openAt(840, id)
      const rows = groups.filter((group) => open.includes(group.id)).flatMap(({ pages }) => pages).length
      expect((rows + groups.length + 2) * 24 + groups.length * 2, id).toBeLessThanOrEqual(840)
      expect(open).toContain(id)
    }
  })

  it('are only that of the page where space is short', () => {
    expect(openAt(300, 'settings')).toEqual(['settings'])
    expect(openAt(300)).toEqual([])
  })
})

it('reads stored choices, and ignores anything else', () => {
  expect(readMenuChoices({ queries: false, data: true, fleet: 'open' })).toEqual({ queries: false, data: true })
  for (const stored of [undefined, null, ['queries'], 'queries', 7]) expect(readMenuChoices(stored)).toEqual({})
})
