import { describe, expect, it } from 'vitest'
import { filterMenuSections } from './menu.ts'

const offers = {
  storedConnections: true,
  management: true,
  subscriptions: true,
  deployments: true,
  postgresSource: true,
  replicationService: true,
  pageViews: true,
}
const pathsFor = (standing: Partial<Parameters<typeof filterMenuSections>[0]>) =>
  filterMenuSections({ isOffered: () => true, mayWrite: true, offers, ...standing }).flatMap(({ pages }) =>
    pages.map(({ path }) => path),
  )

describe('menu', () => {
  it('contains all pages when everything is enabled and permitted', () => {
    expect(pathsFor({})).toEqual(
      expect.arrayContaining(['/audit', '/management', '/alerts/webhooks', '/mcp', '/about']),
    )
  })

  it('hides pages of disabled features, and empty sections', () => {
    const paths = pathsFor({ isOffered: (feature) => feature === 'ABOUT' })
    expect(paths).toEqual(['/hosts', '/postgres', '/setup', '/api-keys', '/about'])
  })

  it.each([
    ['/audit', { mayWrite: false }],
    ['/management', { offers: { ...offers, management: false } }],
    ['/alerts/webhooks', { offers: { ...offers, subscriptions: false } }],
    ['/alerts/webhooks', { offers: undefined }],
  ])('hides %s with %j', (path, standing) => {
    expect(pathsFor(standing)).not.toContain(path)
    expect(pathsFor(standing)).toContain('/overview')
  })
})
