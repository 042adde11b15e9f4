import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { startSeededHost } from '../../services/testing/seeded-hosts.ts'
import { expectVisible, openBrowser, type TestBrowser } from './browser.ts'
import { findAccessibilityViolations } from './accessibility-violations.ts'
import { routes } from './routes.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

/** An example path of each route with parameters. A missing example fails the test below. */
const examples: Record<string, string> = {
  '/browse/[[group]]': '/browse/queries',
  '/charts/[name]': '/charts/query-count',
  '/docs/[[page]]': '/docs/api',
  '/dashboards/[id]': '/dashboards/starter-host-overview',
  '/fingerprints/[hash]': '/fingerprints/1234567890',
  '/incidents/[episode]': '/incidents/unknown',
  '/queries/[id]': '/queries/00000000-0000-4000-8000-000000000000',
  '/repldb/mirrors/[name]': '/repldb/mirrors/orders',
  '/tables/[name]': '/tables/running-queries',
  '/topics/[topic]': '/topics/merges',
}

let product: Product
let browser: TestBrowser
const scope = new AsyncDisposableStack()

beforeAll(async () => {
  const sandbox = scope.use(await startSeededHost('one'))
  product = scope.use(await startProduct({ hosts: [{ url: sandbox.url, name: 'one' }] }))
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

describe('every route', { tags: ['long'] }, () => {
  it.each(routes)('%s renders with a heading and a title, without browser errors', async (route) => {
    const path = examples[route] ?? route
    expect(path, `tests/routes.e2e.ts needs an example of ${route}`).not.toContain('[')
    const visit = await browser.visit()
    await visit.page.goto(`${product.url}${path}?host=0&range=6h`)
    await visit.page.getByRole('heading', { level: 1 }).first().waitFor()
    await visit.networkIdle()
    expect(await visit.page.title()).toMatch(/\S · \S/)
    expect(await visit.page.getByText('Monitoring service unreachable').count()).toBe(0)
    // Failed resource loads are left out, because the browser logs every response with an error status.
    expect(visit.consoleErrors.filter((complaint) => !complaint.startsWith('Failed to load resource'))).toEqual([])
  })
})

describe('every topic of the catalogue', () => {
  it('has a page whose charts have data or explain what is missing', { tags: ['long'] }, async () => {
    const visit = await browser.visit()
    await visit.page.goto(`${product.url}/browse?host=0&range=6h`)
    const links = visit.page.getByRole('main').locator('a[href^="/topics/"]')
    await links.first().waitFor()
    const targets = await links.evaluateAll((found) => found.map((link) => link.getAttribute('href') ?? ''))
    const paths = [...new Set(targets)]
    expect(paths.length).toBeGreaterThanOrEqual(12)
    for (const path of paths) {
      await visit.page.goto(`${product.url}${path}`)
      await visit.page.getByRole('heading', { level: 1 }).first().waitFor()
      await visit.networkIdle()
      expect(await visit.page.getByText('Failed to load').count(), path).toBe(0)
    }
    expect(visit.consoleErrors).toEqual([])
  })
})

describe('what is not set up', () => {
  it.each([
    ['/postgres', 'No PostgreSQL server is configured', 'SVC_POSTGRES_SOURCE_URL'],
    ['/repldb', 'No replication service is configured', 'REPLDB_API_URL'],
  ])('%s names the variable that enables it, and is in no menu', async (path, heading, variable) => {
    const visit = await browser.visit()
    await visit.page.goto(`${product.url}${path}?host=0`)
    await visit.page.getByText(heading, { exact: true }).waitFor()
    await expectVisible(visit.page.getByText(variable).first())
    const menu = visit.page.getByRole('navigation', { name: 'Pages', exact: true })
    await menu.getByRole('link', { name: 'Overview', exact: true }).first().waitFor()
    expect(await menu.locator(`a[href^="${path}?"]`).count()).toBe(0)
    expect(await findAccessibilityViolations(visit)).toEqual([])
  })
})

describe('the agent without a key', () => {
  it('lists the variables that set a key', async () => {
    const visit = await browser.visit()
    await visit.page.goto(`${product.url}/agents?host=0`)
    const guide = visit.page.getByRole('region', { name: 'Set up the agent', exact: true })
    await guide.getByText('LLM_API_KEY').first().waitFor()
    expect(await visit.page.getByRole('textbox', { name: 'Your question', exact: true }).count()).toBe(0)
    expect(await findAccessibilityViolations(visit)).toEqual([])
  })
})
